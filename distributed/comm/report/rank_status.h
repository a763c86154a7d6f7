// RankStatus: what one process can observe of another rank.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace phi::distributed {

class FlightRecorder;

struct RankStatus {
  const FlightRecorder* flight_recorder = nullptr;  // null: the rank is on another machine
  std::string process{};  // "pid 4711", "pid 4711 is stopped"; empty: unknown
  bool has_left = false;  // it makes no more calls: it has left the job, or is leaving it
};
using RankStatusQuery = std::function<RankStatus(int64_t rank)>;

}  // namespace phi::distributed
