# SPDX-License-Identifier: Apache-2.0
# falaj_workers_agent: the agent around the compute engine; falaj-worker: agent, and child of a lease, in one program.
set(agent_dir ${CMAKE_CURRENT_LIST_DIR})
set(agent_sources "")
foreach(f agent/agent agent/cards agent/devices agent/energy agent/fetch agent/idle agent/kept agent/report agent/book
          agent/book_notice
          agent/book_report agent/client
          agent/enrol agent/timers agent/usage
          lease/cage lease/cage_delegate lease/child lease/child_engine lease/child_place lease/batch_table lease/batch_compute
          lease/batch_keep
          lease/plain
          lease/executor lease/frame lease/child_wire lease/ckpt_link lease/keeper lease/deliver lease/work_dir
          lease/infer_answer lease/infer_read lease/job_infer lease/job_text lease/text_read
          lease/sandbox lease/spawn
          lease/box lease/box_filter lease/box_try lease/folder lease/run_lines lease/run_secrets lease/run_image lease/run_launch
          lease/mask lease/programs lease/engines lease/run_keep
          lease/run_output lease/run_end lease/run_trace
          lease/work_type lease/isolation lease/accounts lease/run_cert
          lease/run_gang lease/rank_bytes lease/gang_join lease/gang_net lease/run_world lease/image_cache
          lease/run_energy lease/child_meter
          lease/dial lease/box_enter lease/box_visit lease/run_door lease/inside agent/book_door agent/inside_link)
  list(APPEND agent_sources ${agent_dir}/${f}.c)
endforeach()
# falaj-rank goes into boxes beside any image: static, without the options of the build, carried in the worker.
add_executable(falaj-rank ${agent_dir}/rank/rank.c)
set_target_properties(falaj-rank PROPERTIES COMPILE_OPTIONS "-Wall;-Wextra;-Os"
                      LINK_OPTIONS "-static;-no-pie;-s;-Wl,--build-id=none"
                      COMPILE_DEFINITIONS _GNU_SOURCE INCLUDE_DIRECTORIES ${CMAKE_SOURCE_DIR}
                      POSITION_INDEPENDENT_CODE OFF INTERPROCEDURAL_OPTIMIZATION OFF)
set_source_files_properties(${agent_dir}/lease/rank_bytes.c PROPERTIES OBJECT_DEPENDS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/falaj-rank
                            COMPILE_DEFINITIONS FALAJ_RANK_FILE="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/falaj-rank")
file(GLOB image_sources CONFIGURE_DEPENDS ${agent_dir}/image/*.c)
falaj_library(falaj_workers_image workers SOURCES ${image_sources}
    USES falaj_core_base falaj_core_table falaj_core_json falaj_core_crypto falaj_core_job falaj_core_http_client
    PRIVATE_LIBS z zstd)
file(GLOB agent_types CONFIGURE_DEPENDS ${agent_dir}/lease/type_*.c ${agent_dir}/tool/*.c)
falaj_library(falaj_workers_agent workers SOURCES ${agent_sources} ${agent_types}
  USES falaj_workers_compute falaj_workers_gang falaj_workers_image
       falaj_core_base falaj_core_table falaj_core_json falaj_core_crypto falaj_core_wire falaj_core_http_client
       falaj_core_http_otlp falaj_core_http_server falaj_core_http_certs falaj_core_data PRIVATE_LIBS m ${CMAKE_DL_LIBS})
add_dependencies(falaj_workers_agent falaj-rank)
falaj_binary(falaj-worker SOURCES ${agent_dir}/main.c USES workers_agent)
