// training_oracle JOB.yaml --out=FILE.json [--save=DIR] [--left_out=1,2,7]: what training by the
// job file must give, computed in double by plain loops.
//
// It shares no code with the product: tests compare the two. FILE.json gets a list with one entry a
// step, keys as in `autophi run --metrics` with the largest gradients beside; DIR gets the
// parameters as model.safetensors, in F64. --left_out: the steps that a float16 job left out.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "support/oracle/safetensors.h"
#include "support/oracle/train.h"

namespace oracle {
namespace {

struct Arguments {
  std::string job;
  std::string out;
  std::string save;
  std::set<int64_t> left_out;
};

std::set<int64_t> parse_steps(const std::string& text) {
  std::set<int64_t> steps;
  std::istringstream in(text);
  for (std::string step; std::getline(in, step, ',');) steps.insert(std::stoll(step));
  return steps;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--out") {
      arguments.out = value;
    } else if (name == "--save") {
      arguments.save = value;
    } else if (name == "--left_out") {
      arguments.left_out = parse_steps(value);
    } else if (name.starts_with("--") || !arguments.job.empty()) {
      throw std::runtime_error("unknown argument " + argument);
    } else {
      arguments.job = argument;
    }
  }
  if (arguments.job.empty() || arguments.out.empty()) {
    throw std::runtime_error("usage: JOB.yaml --out=FILE.json [--save=DIR] [--left_out=1,2]");
  }
  return arguments;
}

nlohmann::json as_json(const std::vector<Step>& steps) {
  nlohmann::json list = nlohmann::json::array();
  for (const Step& step : steps) {
    list.push_back({{"step", list.size() + 1},
                    {"loss", step.loss},
                    {"lr", step.rate},
                    {"grad_norm", step.norm},
                    {"loss_scale", step.loss_scale},
                    {"applied", step.applied},
                    {"largest_parameter_gradient", step.largest_parameter_gradient},
                    {"largest_gradient", step.largest_gradient}});
  }
  return list;
}

void run(const Arguments& arguments) {
  const Job job = read_job(arguments.job);
  Parameters parameters = initial_parameters(job.model);
  if (!job.weights.empty()) {
    read_safetensors(job.weights + "/model.safetensors", &parameters);
  }
  const std::vector<Step> steps = train(job, arguments.left_out, &parameters);
  std::ofstream out(arguments.out);
  out << as_json(steps).dump(1) << "\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + arguments.out);
  if (arguments.save.empty()) return;
  std::filesystem::create_directories(arguments.save);
  write_safetensors(arguments.save + "/model.safetensors", parameters);
}

}  // namespace
}  // namespace oracle

int main(int argc, char** argv) {
  try {
    oracle::run(oracle::parse(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "training_oracle: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
