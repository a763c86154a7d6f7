// BufferId: a typed index of a captured program's buffers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace phi::ir {

/// An index into Recording::buffers(), FlatProgram::buffers or ProgramState::buffers.
enum class BufferId : int32_t {};
inline constexpr BufferId kNoBuffer{-1};

constexpr BufferId buffer_id(size_t index) { return BufferId{static_cast<int32_t>(index)}; }
/// Requires that `id` is not kNoBuffer.
constexpr size_t index_of(BufferId id) { return static_cast<size_t>(id); }

}  // namespace phi::ir
