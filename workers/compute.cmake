# SPDX-License-Identifier: Apache-2.0
# falaj_workers_compute: kernels, training, inference; needs nothing but core/base, core/data, the specs of core/wire and libm.
# Kernel variants: each file with its own instruction set, optimised in every build type (a debug build trains, too).
set(compute_dir ${CMAKE_CURRENT_LIST_DIR}/compute)
file(GLOB compute_sources CONFIGURE_DEPENDS ${compute_dir}/*.c ${compute_dir}/kernels/*.c ${compute_dir}/graph/*.c ${compute_dir}/train/*.c ${compute_dir}/infer/*.c ${compute_dir}/text/*.c ${compute_dir}/onnx/*.c
  ${compute_dir}/optimise/*.c ${compute_dir}/ort/*.c ${compute_dir}/kernels/cuda/*.c)
falaj_cuda_images(cuda_images)
list(APPEND compute_sources ${cuda_images})
set(compute_fast -O3 -fno-math-errno -fno-trapping-math -ffp-contract=fast)
set(compute_wide -mprefer-vector-width=512)
set_source_files_properties(${compute_dir}/kernels/ref.c PROPERTIES COMPILE_OPTIONS "-O2;-fno-math-errno;-ffp-contract=off")
foreach(file kernels/trees train/gbdt_split train/gbdt_tree train/gbdt_loss train/gbdt_bins train/gbdt_model)
  set_source_files_properties(${compute_dir}/${file}.c PROPERTIES COMPILE_OPTIONS 
    "-O3;-fno-math-errno;-fno-trapping-math;-ffp-contract=off")
endforeach()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${compute_dir}/kernels/avx2.c PROPERTIES COMPILE_OPTIONS "${compute_fast};-mavx2;-mfma")
  set_source_files_properties(${compute_dir}/kernels/avx512.c PROPERTIES COMPILE_OPTIONS
    "${compute_fast};-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;${compute_wide}")
  set_source_files_properties(${compute_dir}/kernels/avx512vnni.c PROPERTIES COMPILE_OPTIONS
    "${compute_fast};-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vnni;${compute_wide}")
  set_source_files_properties(${compute_dir}/kernels/avx512bf16.c PROPERTIES COMPILE_OPTIONS
    "${compute_fast};-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vnni;-mavx512bf16;${compute_wide}")
else()
  list(FILTER compute_sources EXCLUDE REGEX "/kernels/avx[^/]*[.]c$")
endif()
falaj_library(falaj_workers_compute workers SOURCES ${compute_sources} USES falaj_core_base falaj_core_data falaj_core_job PRIVATE_LIBS m ${CMAKE_DL_LIBS})
