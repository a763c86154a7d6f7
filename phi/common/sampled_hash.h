// A file's content as one number that is cheap to get for files of any size: its size, its first
// and last pages, and pages at seeded places between them. Two files of one size that differ in
// pages that are not looked at have the same number; a file of `max_pages` or fewer is read whole.
//
//   if (sampled_hash("a.bin", 64) != sampled_hash("b.bin", 64)) ...   // they differ
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace phi {

/// Of what is looked at in a file.
inline constexpr int64_t kSampledPageBytes = 4096;

/// Of `bytes`, from what is known so far.
uint64_t hash_bytes(uint64_t seed, std::span<const std::byte> bytes);

/// Touches at most `max_pages` (2 or more) pages of the file. Errors: as MappedFile::open and read.
uint64_t sampled_hash(const std::string& path, int64_t max_pages);

/// Of all bytes. Errors: the same.
uint64_t whole_hash(const std::string& path);

/// Of several files in this order: their names (without folders) and their contents. Of each at
/// most 64 pages, fewer where files are many (some 1,000 pages in all), but always two.
uint64_t sampled_hash_of(std::span<const std::string> paths);

}  // namespace phi
