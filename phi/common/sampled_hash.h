// Hashes of files, to detect that a file has changed. The sampled hash is cheap for files of any
// size. It depends on the file's size, its first and last page, and pages at fixed pseudo-random
// positions between them. A change in other pages is not detected. A file of at most `max_pages`
// pages is read completely.
//
//   if (sampled_hash("a.bin", 64) != sampled_hash("b.bin", 64)) ...   // they differ
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace phi {

/// Size of a sampled page in bytes.
inline constexpr int64_t kSampledPageBytes = 4096;

/// Returns the hash of `bytes`. Pass the hash of preceding data as `seed`.
uint64_t hash_bytes(uint64_t seed, std::span<const std::byte> bytes);

/// Returns the hash of at most `max_pages` pages of the file; `max_pages` below 2 counts as 2.
/// Errors: those of MappedFile::open and MappedFile::read.
uint64_t sampled_hash(const std::string& path, int64_t max_pages);

/// Returns the hash of the whole file. Errors: those of sampled_hash.
uint64_t whole_hash(const std::string& path);

/// Returns the hash of a list of files, from their names (without folders) and sampled contents.
/// About 1024 pages are read, the same number of each file, but at least 2 and at most 64 of each.
/// Errors: those of sampled_hash.
uint64_t sampled_hash_of(std::span<const std::string> paths);

}  // namespace phi
