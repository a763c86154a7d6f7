# Installs the build into a prefix, builds the example programs against it and runs them.
set(prefix ${BUILD}/install_test/prefix)
file(REMOVE_RECURSE ${BUILD}/install_test)

function(must_run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(must_build name)
  set(folder ${BUILD}/install_test/${name})
  must_run(${CMAKE_COMMAND} -S ${SOURCE}/examples/${name} -B ${folder} -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
           -DCMAKE_BUILD_TYPE=Release)
  must_run(${CMAKE_COMMAND} --build ${folder})
endfunction()

# must_print(NAME [RANKS n] [ARGS argument...] LINES regex...): the program, on four ranks if not said.
function(must_print name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "RANKS" "ARGS;LINES")
  if(NOT ARG_RANKS)
    set(ARG_RANKS 4)
  endif()
  must_run(${MPIEXEC} --allow-run-as-root --oversubscribe -n ${ARG_RANKS}
           ${BUILD}/install_test/${name}/${name} ${ARG_ARGS})
  message("${output}")
  foreach(line ${ARG_LINES})
    if(NOT output MATCHES "${line}")
      message(FATAL_ERROR "${name} ${ARG_ARGS} did not print: ${line}")
    endif()
  endforeach()
endfunction()

must_run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

# Users read there how rules are written, and what their cases look like.
foreach(page writing_rules op_yaml spmd_rules)
  if(NOT EXISTS ${prefix}/share/doc/autophi/${page}.md)
    message(FATAL_ERROR "docs/${page}.md is not installed")
  endif()
endforeach()

# The command needs no file of the build's.
file(WRITE ${BUILD}/install_test/ids.bin "abcd")
must_run(${prefix}/bin/autophi data info ${BUILD}/install_test/ids.bin)
if(NOT output MATCHES "kind +tokens .uint16.")
  message(FATAL_ERROR "autophi data info printed:\n${output}")
endif()

# Kernel libraries are components. One that there is not is named, with those that there are.
file(WRITE ${BUILD}/install_test/components/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(components LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(autophi REQUIRED COMPONENTS \${COMPONENT})
add_executable(components components.cc)
target_link_libraries(components PRIVATE autophi::autophi)
if(TARGET autophi::\${COMPONENT} AND LINKED)
  target_link_libraries(components PRIVATE autophi::\${COMPONENT})
endif()
")
file(WRITE ${BUILD}/install_test/components/components.cc "#include <phi/api.h>
#include <phi/core/kernel_library.h>
#include <iostream>
int main() {
  std::cout << \"signal at first: \" << phi::is_kernel_library_loaded(\"signal\");
  phi::fft_r2c(phi::ones({8}), {0}, \"backward\", true, true);
  std::cout << \", then: \" << phi::is_kernel_library_loaded(\"signal\") << std::endl;
}
")
foreach(linked OFF ON)
  set(folder ${BUILD}/install_test/components/${linked})
  must_run(${CMAKE_COMMAND} -S ${BUILD}/install_test/components -B ${folder} -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
           -DCOMPONENT=signal -DLINKED=${linked})
  must_run(${CMAKE_COMMAND} --build ${folder})
  must_run(${folder}/components)
  if(linked AND NOT output MATCHES "at first: 1, then: 1" OR NOT linked AND NOT output MATCHES "at first: 0, then: 1")
    message(FATAL_ERROR "with LINKED=${linked} the program printed: ${output}")
  endif()
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${BUILD}/install_test/components -B ${folder}/none -G Ninja
                        -DCMAKE_PREFIX_PATH=${prefix} -DCOMPONENT=visions RESULT_VARIABLE failed ERROR_VARIABLE errors)
if(NOT failed OR NOT errors MATCHES "no component 'visions'.*vision")
  message(FATAL_ERROR "find_package(autophi COMPONENTS visions) said: ${errors}")
endif()

must_build(two_stages)
must_print(two_stages LINES
  "rank 0: h f32.8,256. .S1. on mesh.tp=2., 4096 bytes here; y f32.8,64. .P.sum.. on mesh.tp=2; ranks 2,3., 0 bytes here"
  "rank 3: h f32.8,256. .S1. on mesh.tp=2., 0 bytes here; y f32.8,64. .P.sum.. on mesh.tp=2; ranks 2,3., 2048 bytes here"
  "loss 0\\.[0-9]+")

must_build(deferred_transfer)
must_print(deferred_transfer LINES
  "rank 2, given: host to device 0 bytes, back 0; allocated: host 262144, device 0"
  "rank 2, sharded: host to device 65536 bytes, back 0; allocated: host 0, device 65536"
  "rank 3, resharded: host to device 65536 bytes, back 0; allocated: host 0, device 65536"
  "rank 1, summed: host to device 65536 bytes, back 4; allocated: host 0, device 65536"
  "sum 2064384")
must_print(deferred_transfer ARGS eager LINES
  "rank 2, given: host to device 262144 bytes, back 0; allocated: host 0, device 262144"
  "rank 2, sharded: host to device 262144 bytes, back 0; allocated: host 0, device 65536"
  "sum 2064384")

must_build(capture)
must_print(capture LINES
  "%5 = matmul.%4, %2. .transpose_x=false, transpose_y=false. : f32.16,32. .S0,P.sum.. on mesh.dp=2,tp=2."
  "scan reversed 4 x body1"
  "parameter %3 becomes %[0-9]+"
  "0 scan 4 x body0 {"
  "step 3: loss ([0-9.]+), eager ([0-9.]+)"
  "rank 0: weights are equal; 4 layers in 35 steps, arena [1-9][0-9]* bytes"
  "rank 3: weights are equal; 4 layers in 35 steps, arena [1-9][0-9]* bytes")

must_build(parameter_mapping)
must_print(parameter_mapping LINES
  "rank 1, by reference: device to host 0 transfers of 0 bytes, back 0; host has 0"
  "rank 1, copies: device to host 2 transfers of 131072 bytes, back 0; host has 131072"
  "rank 1: parameter 1 is f32.256,64. .S0. on mesh.tp=2; ranks 2,3., 0 bytes here; its copy f32.256,64."
  "rank 3: ids: up 0, down 1, a handle on down 1, a value between -1")

must_build(out_of_core)
must_print(out_of_core RANKS 1 LINES
  "operands 50331648 bytes, device at most [0-9]+ of 12582912 bytes"
  "disk to device: [0-9]+ bytes in [0-9]+ transfers; device to disk: 4194304 bytes"
  "largest difference from the matmul in memory: [0-9.e-]+, rounding")

# Operators of one's own: checked on all placements, run on processes, asked by the command.
must_build(custom_op)
must_run(${BUILD}/install_test/custom_op/custom_op)
message("${output}")
foreach(op softcap group_rms_norm row_energy)
  if(NOT output MATCHES "${op}: 4[0-9][0-9] calls and 4[0-9][0-9] gradients on meshes agree with one process, 24[0-9] gradient elements with finite differences")
    message(FATAL_ERROR "custom_op did not check ${op}:\n${output}")
  endif()
endforeach()
must_print(custom_op ARGS run LINES
  "rank 0: out f32.4,8. .S0,S1. on mesh.dp=2,tp=2.; gradient of scale f32.8. .R,S0. on mesh.dp=2,tp=2.")
set(my_ops ${BUILD}/install_test/custom_op/libmy_ops.so)
must_run(${prefix}/bin/autophi spmd --ops=${my_ops} group_rms_norm --mesh=2 --in=4x8[_,0] --in=8[_] --attr group_size=4)
message("${output}")
if(NOT output MATCHES "needs  scale  8.0.")
  message(FATAL_ERROR "autophi spmd --ops printed:\n${output}")
endif()
file(WRITE ${BUILD}/install_test/cases.yaml "rule: row_energy
cases:
- {mesh: {shape: [2]}, inputs: [{shape: [4, 8], dims_mapping: [-1, 0]}], expect: {inputs: [{dims_mapping: [-1, 0]}], outputs: [{dims_mapping: [-1], partial: [0]}]}}
")
must_run(${prefix}/bin/autophi spmd --ops=${my_ops} --cases=${BUILD}/install_test/cases.yaml)
if(NOT output MATCHES "1 passed, 0 failed")
  message(FATAL_ERROR "autophi spmd --ops --cases printed:\n${output}")
endif()

# What an entry names and nobody wrote, and a name that is taken, are said before anything compiles.
set(wrong ${BUILD}/install_test/wrong_ops)
function(must_be_refused yaml words)
  file(REMOVE_RECURSE ${wrong})
  file(WRITE ${wrong}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(wrong LANGUAGES CXX)
find_package(autophi REQUIRED)
autophi_add_ops(wrong_ops OPS ops.yaml SOURCES kernels.cc)
")
  file(WRITE ${wrong}/kernels.cc "")
  file(WRITE ${wrong}/ops.yaml "${yaml}")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${wrong} -B ${wrong}/build -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT failed OR NOT output MATCHES "${words}")
    message(FATAL_ERROR "expected '${words}', got:\n${output}")
  endif()
endfunction()
set(entry "  args: (Tensor x)\n  output: Tensor\n  infer_meta: {func: UnchangedInferMeta, spmd_rule: ElementwiseUnaryInferSpmd}\n")
must_be_refused("- op: relu\n${entry}  kernel: {func: relu}\n" "ops.yaml:1: op 'relu', key 'op': the operator 'relu'[ \n]+already[ \n]+exists")
must_be_refused("- op: mine\n${entry}  kernel: {func: mine}\n" "registers[ \n]+the[ \n]+kernel[ \n]+'mine'")
must_be_refused("- op: mine\n  args: (Tensor x)\n  output: Tensor\n  invoke: rleu(x)\n" "'rleu'.*did[ \n]+you[ \n]+mean[ \n]+'relu'")

# A kind of models in a library: a job trains it.
must_build(model_kind)
must_run(/usr/bin/env python3 -B ${SOURCE}/examples/images/make_images.py ${BUILD}/install_test/images)
file(WRITE ${BUILD}/install_test/mlp.yaml "mode: train
models: [${BUILD}/install_test/model_kind/libmy_models.so]
model: {kind: mlp, image_size: 8, channels: 1, classes: 3, hidden: 32}
data: {kind: images, paths: [${BUILD}/install_test/images/train], image_size: 8}
run: {steps: 3}
")
must_run(${MPIEXEC} --allow-run-as-root --oversubscribe -n 2 ${prefix}/bin/autophi run ${BUILD}/install_test/mlp.yaml)
if(NOT output MATCHES "mlp 2.2k parameters.*step 3/3  loss [0-9.]+")
  message(FATAL_ERROR "autophi run mlp.yaml printed:\n${output}")
endif()

# An own model: on every mesh the losses of one process (in millionths, up to rounding).
must_build(own_model)
set(expected)
foreach(mesh "1" "2 dp 2" "4 dp 2 tp 2" "2 pp 2")
  separate_arguments(words UNIX_COMMAND "${mesh}")
  list(POP_FRONT words ranks)
  must_print(own_model RANKS ${ranks} ARGS ${words} LINES
    "step 40: loss [0-9.]+" "10 12 14 16 ->( [0-9]+)+; loaded ->( [0-9]+)+")
  string(REGEX MATCHALL "loss [0-9]+[.][0-9][0-9][0-9][0-9][0-9][0-9]" losses "${output}")
  string(REGEX REPLACE "loss 0*|[.]" "" losses "${losses}")
  if(NOT expected)
    set(expected ${losses})
  endif()
  foreach(one given IN ZIP_LISTS expected losses)
    math(EXPR difference "${given} - ${one}")
    if(NOT difference MATCHES "^-?[0-9]?[0-9]$")
      message(FATAL_ERROR "own_model ${mesh}: losses ${losses}, but ${expected} on one process")
    endif()
  endforeach()
endforeach()
