// A hash of a checkpoint's files, with which ranks check that they load the same checkpoint.
#pragma once

#include <cstdint>
#include <string>

namespace phi::distributed::checkpoint {

/// Hashes a .safetensors file, or in a folder all files whose names end in .safetensors or .json,
/// in order of their names. The hash covers names, sizes and sampled pages (phi::sampled_hash_of).
/// Errors: those of MappedFile; NotFound for a folder that cannot be listed.
uint64_t content_hash(const std::string& path);

}  // namespace phi::distributed::checkpoint
