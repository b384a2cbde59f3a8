# SPDX-License-Identifier: Apache-2.0
# falaj_workers_gang: ranks of a training that are processes of their own, over TLS (docs/adr/0077, 0088), and packets between the
# programs of a job on several machines (0113).
set(gang_dir ${CMAKE_CURRENT_LIST_DIR}/gang)
falaj_library(falaj_workers_gang workers SOURCES ${gang_dir}/comm_frame.c ${gang_dir}/comm_join.c ${gang_dir}/comm_tcp.c
          ${gang_dir}/packet.c ${gang_dir}/tunnel.c
  USES falaj_core_base falaj_core_tls falaj_workers_compute)
