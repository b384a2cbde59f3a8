# SPDX-License-Identifier: Apache-2.0
# The GPU code (workers/compute/kernels/cuda/*.cu) as PTX inside falaj-worker. clang makes it without any toolkit, nvcc where
# there is no clang; the driver of the machine turns it into the card's own code, so the build needs no card, no driver and no
# CUDA.
#   FALAJ_CUDA  AUTO: where clang or nvcc is found; ON: must be; OFF: the worker has no backend cuda
set(FALAJ_CUDA AUTO CACHE STRING "GPU kernels: AUTO, ON or OFF")
set_property(CACHE FALAJ_CUDA PROPERTY STRINGS AUTO ON OFF)
find_program(FALAJ_CUDA_CLANG clang)
find_program(FALAJ_CUDA_NVCC nvcc HINTS /usr/local/cuda/bin)
mark_as_advanced(FALAJ_CUDA_CLANG FALAJ_CUDA_NVCC)

# sm_80: what Debian 12's clang 14 knows; PTX of it runs on every later card.
set(falaj_cuda_clang_flags -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_80
  -Xclang -target-feature -Xclang +ptx70 -Wno-unknown-cuda-version -Wall -Wextra -Werror -std=c++17 -O3 -ffp-contract=off -S)
set(falaj_cuda_nvcc_flags -std=c++17 -O3 -fmad=false -arch=compute_80 -ptx)

# falaj_cuda_images(out): the C file that holds them all, built from the sources.
function(falaj_cuda_images out)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/workers/compute/kernels/cuda/*.cu)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/workers/compute/kernels/cuda/*.h
    ${CMAKE_SOURCE_DIR}/workers/compute/kernels/step.h ${CMAKE_SOURCE_DIR}/workers/compute/rng.h)
  set(dir ${CMAKE_BINARY_DIR}/cuda)
  set(command "")
  if(NOT FALAJ_CUDA STREQUAL "OFF" AND FALAJ_CUDA_CLANG)
    set(command ${FALAJ_CUDA_CLANG} ${falaj_cuda_clang_flags})
  elseif(NOT FALAJ_CUDA STREQUAL "OFF" AND FALAJ_CUDA_NVCC)
    set(command ${FALAJ_CUDA_NVCC} ${falaj_cuda_nvcc_flags})
  elseif(FALAJ_CUDA STREQUAL "ON")
    message(FATAL_ERROR "FALAJ_CUDA is ON, but neither clang nor nvcc was found")
  endif()
  set(text "/* Made by cmake/cuda.cmake. */\n#include \"workers/compute/kernels/cuda/image_int.h\"\n")
  set(rows "")
  set(images "")
  foreach(source ${sources})
    if(NOT command)
      break()
    endif()
    get_filename_component(name ${source} NAME_WE)
    set(image ${dir}/${name}.ptx)
    set(flags ${command})
    set(then "")
    if(name MATCHES "_hopper$")         # what clang 14 cannot say is inline assembly, and its text says a newer version and card
      list(TRANSFORM flags REPLACE "-arch=compute_80" "-arch=compute_90a")
      set(then COMMAND sed -i -e "s/^\\.version 7\\.0/.version 8.0/" -e "s/^\\.target sm_80/.target sm_90a/" ${image})
    endif()
    add_custom_command(OUTPUT ${image} COMMAND ${flags} -I${CMAKE_SOURCE_DIR} -o ${image} ${source} ${then}
      DEPENDS ${source} ${headers}
      COMMENT "GPU code of ${name}" VERBATIM)
    list(APPEND images ${image})
    string(APPEND text "IMAGE(${name}, \"${image}\");\n")
    string(APPEND rows "    { \"${name}\", falaj_gpu_${name} },\n")
  endforeach()
  file(MAKE_DIRECTORY ${dir})
  set(text "${text}const struct gpu_image gpu_images[] = {\n${rows}    { NULL, NULL },\n};\n")
  file(CONFIGURE OUTPUT ${dir}/gpu_images.c CONTENT "${text}" @ONLY)
  set_source_files_properties(${dir}/gpu_images.c PROPERTIES OBJECT_DEPENDS "${images}")
  set(${out} ${dir}/gpu_images.c PARENT_SCOPE)
endfunction()
