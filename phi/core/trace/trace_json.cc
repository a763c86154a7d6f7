// Writes trace events as JSON.
#include "phi/core/trace/trace_json.h"

#include <fmt/format.h>

#include <iterator>

namespace phi {
namespace {

class EventWriter {
 public:
  EventWriter(const TraceProcess& process, std::string* json) : process_(process), json_(*json) {}

  void write(const TraceEvent& event) {
    switch (event.kind) {
      case TraceKind::kClipped:
        return line(event, "i", event.start_ns, R"(,"s":"t")");
      case TraceKind::kSend:
        return line(event, "s", event.start_ns, arrow(event));
      case TraceKind::kReceive:
        return line(event, "f", event.start_ns, arrow(event) + R"(,"bp":"e")");
      case TraceKind::kInFlight:
        return write_in_flight(event);
      default:
        return write_span(event);
    }
  }

 private:
  void write_span(const TraceEvent& event) {
    if (event.duration_ns == TraceEvent::kUnfinished) return line(event, "B", event.start_ns, "");
    line(event, "X", event.start_ns, fmt::format(R"(,"dur":{})", microseconds(event.duration_ns)));
  }

  // The id is unique in the process, so that a viewer does not join two events.
  void write_in_flight(const TraceEvent& event) {
    const std::string id = fmt::format(R"(,"id2":{{"local":"{}"}})", ++in_flight_);
    line(event, "b", event.start_ns, id);
    line(event, "e", event.start_ns + event.duration_ns, id);
  }

  static std::string arrow(const TraceEvent& event) {
    return fmt::format(R"(,"id":"{:016x}")", event.id);
  }

  static std::string microseconds(int64_t ns) {
    const char* sign = ns < 0 ? "-" : "";
    const int64_t size = ns < 0 ? -ns : ns;
    return fmt::format("{}{}.{:03}", sign, size / 1000, size % 1000);
  }

  void line(const TraceEvent& event, const char* phase, int64_t ns, const std::string& more) {
    fmt::format_to(std::back_inserter(json_),
                   R"({{"ph":"{}","cat":"{}","name":{},"pid":{},"tid":{},"ts":{}{},"args":{{)",
                   phase, name_of(event.kind), json_string(event.name), process_.rank,
                   static_cast<int>(lane_of(event.kind)), microseconds(ns + process_.shift_ns),
                   more);
    separator_ = "";
    args(event);
    json_ += "}},\n";
  }

  void args(const TraceEvent& event) {
    if (event.detail) arg(detail_key(event.kind), event.detail);
    if (event.sequence > 0) arg("sequence", static_cast<int64_t>(event.sequence));
    if (event.peer >= 0) arg("peer", event.peer);
    if (event.bytes_sent >= 0) arg("bytes_sent", event.bytes_sent);
    if (event.bytes_received >= 0) arg("bytes_received", event.bytes_received);
    if (event.caller) arg("caller", event.caller);
    if (event.work.step >= 0) arg("step", event.work.step);
    if (event.work.micro_batch >= 0) arg("micro_batch", event.work.micro_batch);
    if (event.work.chunk >= 0) arg("chunk", event.work.chunk);
  }

  static const char* detail_key(TraceKind kind) {
    switch (kind) {
      case TraceKind::kOp:
      case TraceKind::kStepOfProgram:
        return "shapes";
      case TraceKind::kReshard:
        return "change";
      case TraceKind::kAction:
      case TraceKind::kClippedAction:
        return "action";
      default:
        return "group";
    }
  }

  void arg(const char* key, int64_t value) {
    fmt::format_to(std::back_inserter(json_), R"({}"{}":{})", separator_, key, value);
    separator_ = ",";
  }
  void arg(const char* key, const char* value) {
    fmt::format_to(std::back_inserter(json_), R"({}"{}":{})", separator_, key, json_string(value));
    separator_ = ",";
  }

  const TraceProcess& process_;
  std::string& json_;
  const char* separator_ = "";
  int64_t in_flight_ = 0;
};

void append_name(std::string_view what, const TraceProcess& process, int lane,
                 std::string_view name, std::string* json) {
  fmt::format_to(
      std::back_inserter(*json),
      R"({{"ph":"M","name":"{}_name","pid":{},"tid":{},"args":{{"name":{}}}}},)"
      "\n"
      R"({{"ph":"M","name":"{}_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}},)"
      "\n",
      what, process.rank, lane, json_string(name), what, process.rank, lane,
      lane == 0 ? process.rank : lane);
}

}  // namespace

std::string_view name_of(TraceLane lane) {
  switch (lane) {
    case TraceLane::kActions:
      return "actions";
    case TraceLane::kOps:
      return "ops";
    case TraceLane::kCommunication:
      return "communication";
    case TraceLane::kClipped:
      return "clipped";
  }
  return "unknown";
}

TraceLane lane_of(TraceKind kind) {
  switch (kind) {
    case TraceKind::kStep:
    case TraceKind::kAction:
      return TraceLane::kActions;
    case TraceKind::kOp:
    case TraceKind::kStepOfProgram:
      return TraceLane::kOps;
    case TraceKind::kClipped:
    case TraceKind::kClippedAction:
      return TraceLane::kClipped;
    case TraceKind::kReshard:
    case TraceKind::kCall:
    case TraceKind::kInFlight:
    case TraceKind::kSend:
    case TraceKind::kReceive:
      return TraceLane::kCommunication;
  }
  return TraceLane::kOps;
}

void append_process(const TraceProcess& process, std::string* json) {
  append_name("process", process, 0, process.label, json);
  for (const auto lane :
       {TraceLane::kActions, TraceLane::kOps, TraceLane::kCommunication, TraceLane::kClipped}) {
    append_name("thread", process, static_cast<int>(lane), name_of(lane), json);
  }
}

void append_events(const Trace& trace, const TraceProcess& process, std::string* json) {
  EventWriter writer(process, json);
  for (size_t i = 0; i < trace.size(); ++i) writer.write(trace[i]);
}

void end_events(std::string* json) {
  if (json->ends_with(",\n")) json->erase(json->size() - 2, 1);
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace phi
