// Traces as Chrome trace events, which ui.perfetto.dev and chrome://tracing show.
//
//   std::string json = "{\"traceEvents\":[\n";
//   append_process(process, &json);             // each line ends with ",\n"
//   append_events(trace, process, &json);
//   end_events(&json);                          // takes the last comma away
//   json += "]}\n";
//
// Format: "Trace Event Format" (Google, 2016): phases X (an event with its duration), B (one that
// did not end), i (a moment), b and e (both ends of what may overlap), s and f (an arrow), M
// (names). A rank is a process; its lanes are threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "phi/core/trace/trace.h"

namespace phi {

/// The lanes of a rank. Events of one lane lie within each other or apart.
enum class TraceLane : uint8_t { kActions = 1, kOps, kCommunication, kClipped };
std::string_view name_of(TraceLane lane);
TraceLane lane_of(TraceKind kind);

struct TraceProcess {
  int64_t rank = 0;
  std::string label;     // "rank 3 · stage 1"
  int64_t shift_ns = 0;  // added to every time: to the clock and the beginning of the whole picture
};

/// The names of the process and its lanes.
void append_process(const TraceProcess& process, std::string* json);
/// All events, one line each; an arrow and what is in flight are two ends. Times are in
/// microseconds with three decimals.
void append_events(const Trace& trace, const TraceProcess& process, std::string* json);
/// The list of events ends here.
void end_events(std::string* json);

/// `text` as a JSON string, with its quotes.
std::string json_string(std::string_view text);

}  // namespace phi
