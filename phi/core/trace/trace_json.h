// Writes traces as Chrome trace events, for ui.perfetto.dev and chrome://tracing.
//
//   std::string json = "{\"traceEvents\":[\n";
//   append_process(process, &json);             // each line ends with ",\n"
//   append_events(trace, process, &json);
//   end_events(&json);                          // removes the last comma
//   json += "]}\n";
//
// Format: "Trace Event Format" (Google, 2016). Phases: X (an event with a duration), B (an event
// without an end), i (a point in time), b and e (ends of events that may overlap), s and f (ends of
// an arrow), M (names). A rank is a process, and its lanes are threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "phi/core/trace/trace.h"

namespace phi {

/// The lanes of a rank. Two events of one lane are nested or disjoint.
enum class TraceLane : uint8_t { kActions = 1, kOps, kCommunication, kClipped };
std::string_view name_of(TraceLane lane);
TraceLane lane_of(TraceKind kind);

struct TraceProcess {
  int64_t rank = 0;
  std::string label;     // "rank 3 · stage 1"
  int64_t shift_ns = 0;  // added to every time, to align the clocks and origins of all ranks
};

/// Appends the names of the process and its lanes.
void append_process(const TraceProcess& process, std::string* json);
/// Appends all events, one line per event, or one for each end of an arrow or of an event in
/// flight. Times are in microseconds with three decimals.
void append_events(const Trace& trace, const TraceProcess& process, std::string* json);
/// Ends the list of events: removes the last comma.
void end_events(std::string* json);

/// `text` as a JSON string, with its quotes.
std::string json_string(std::string_view text);

}  // namespace phi
