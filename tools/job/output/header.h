// The text that `autophi run` prints before the first step.
#pragma once

#include <string>

#include "tools/job/output/report.h"
#include "tools/job/setup.h"

namespace phi::job {

std::string header(const Setup& setup, const JobReport& report);

}  // namespace phi::job
