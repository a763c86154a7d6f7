# The folders of kernels for GPUs, KERNEL_FOLDERS, and which of their files are compiled by themselves, wherever this is included: by nvcc
# for the library, and for the emulator (tests/phi/gpu).
set(here ${CMAKE_CURRENT_LIST_DIR})
file(GLOB_RECURSE KERNEL_FOLDERS CONFIGURE_DEPENDS ${here}/*.cu)
list(TRANSFORM KERNEL_FOLDERS REPLACE "/[^/]*$" "")
list(REMOVE_DUPLICATES KERNEL_FOLDERS)

# autophi_kernels(PROPERTY file...)
function(autophi_kernels property)
  list(TRANSFORM ARGN PREPEND ${here}/)
  set_source_files_properties(${ARGN} PROPERTIES ${property} ON)
endfunction()
# CUDA's sin, cos and tan, which others are made of, have an array of their own for large arguments; words of Philox
# that are taken one after the other, and a table of Stirling's, are arrays too.
autophi_kernels(AUTOPHI_STACK elementwise/complex_math_kernel.cu elementwise/special_kernel.cu
                elementwise/unary_math_kernel.cu elementwise/unary_math_grad_kernel.cu rope/rope_angles.cu
                data_movement/position_encoding_kernel.cu random/distribution_kernel.cu)
# Those that take five seconds and more beside what headers take, and log-sum-exp, whose kernels take more registers than its
# folder's row in tests/tools/kernel_figures.txt should allow the others.
autophi_kernels(AUTOPHI_ALONE attention/flash_attention_grad_kernel.cu attention/unpadded_attention_kernel.cu
                elementwise/binary_grad_kernel.cu elementwise/binary_kernel.cu
                elementwise/binary_math_kernel.cu elementwise/bitwise_kernel.cu
                loss/cross_entropy_grad_kernel.cu loss/cross_entropy_kernel.cu
                loss/elementwise_loss_kernel.cu data_movement/cast.cu normalisation/group_norm_kernel.cu
                normalisation_grad_kernel.cu normalisation_kernel.cu optimizer/numerics_kernel.cu
                reduction/by_reducer_kernel.cu reduction/logsumexp_kernel.cu
                reduction/norm_kernel.cu reduction/sums_kernel.cu softmax_kernel.cu
                statistics/histogram_kernel.cu)
