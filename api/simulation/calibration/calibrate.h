// Measures this machine: kernels, launches and messages, each on its own.
//
//   const Calibration measured = calibrate({});
//   std::cout << table(measured);
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "distributed/simulator/machine.h"
#include "phi/common/dtype.h"

namespace phi::simulation {

struct CalibrationOptions {
  std::vector<DataType> dtypes = {DataType::FLOAT32};
  /// Small sizes and few repetitions, for tests.
  bool quick = false;
};

/// How well a family or a kind of message is known.
struct CalibrationQuality {
  std::string name;       // "float32 matmul", "messages"
  double per_second = 0;  // at the largest size: flops or bytes
  double spread = 0;      // median over sizes of (third quartile - first quartile) / median
  double residual = 0;    // largest relative error of a rate interpolated from its two neighbours
};

/// The time of each repetition of one operator or message on this rank, in order.
struct RawSamples {
  std::string name;
  std::string unit;  // of size: "flops" or "bytes"
  double size = 0;
  std::vector<double> seconds;
};

struct Calibration {
  distributed::simulator::MachineModel machine;
  std::vector<CalibrationQuality> quality;
  std::vector<RawSamples> samples;
};

/// Every rank of the world calls it and measures at the same time; all return the same rates, the
/// mean over ranks. Links are measured between ranks 0 and 1; a world of one rank has none.
/// Errors: those of operators, for a dtype without kernels.
Calibration calibrate(const CalibrationOptions& options);

/// A list with an entry for each of `samples`: {"name", "flops" or "bytes", "seconds": [..]}.
nlohmann::ordered_json samples_json(const Calibration& calibration);

/// One line for each family.
std::string table(const Calibration& calibration);

}  // namespace phi::simulation
