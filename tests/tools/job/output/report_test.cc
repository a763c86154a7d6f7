// The report's JSON and its table.
#include "tools/job/output/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "phi/common/errors.h"
#include "tests/support/error_matchers.h"
#include "tools/job/output/atomic_file.h"

namespace phi::job {
namespace {

using ::testing::HasSubstr;

JobReport example() {
  JobReport report;
  report.job = "job.yaml";
  report.mode = "forward";
  report.mesh = "dp=2";
  report.dtype = "float32";
  report.num_parameters = 1234;
  report.losses = {5.5, 5.25};
  report.tokens_per_s = 1000.5;
  report.world_size = 2;
  report.ranks.resize(2);
  report.ranks[1].rank = 1;
  report.ranks[1].ops_launched = 1234567;
  report.ranks[1].bytes_sent = 13 << 20;
  return report;
}

TEST(Report, HasTheKeysThatReadersRelyOn) {
  const auto json = nlohmann::json::parse(to_json(example()));
  EXPECT_EQ(json.at("world_size"), 2);
  EXPECT_EQ(json.at("mode"), "forward");
  EXPECT_EQ(json.at("losses"), (std::vector<double>{5.5, 5.25}));
  EXPECT_EQ(json.at("tokens_per_s"), 1000.5);
  for (const char* key : {"rank", "ops_launched", "ops_clipped", "reshard_steps", "bytes_sent",
                          "bytes_received", "peak_tensor_bytes"}) {
    EXPECT_TRUE(json.at("ranks").at(1).contains(key)) << key;
  }
  EXPECT_EQ(json.at("ranks").at(1).at("ops_launched"), 1234567);
}

TEST(Report, SaysWhatDataOtherThanPlainTextIs) {
  JobReport report = example();
  report.data.num_bytes = 100;
  auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json.at("text_bytes"), 100);
  EXPECT_FALSE(json.contains("data"));
  report.data.kind = data::DataKind::kTokens;
  report.data.type = data::TokenType::kUint16;
  report.data.num_tokens = 50;
  json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json.at("text_bytes"), 100);
  EXPECT_EQ(json.at("data"),
            nlohmann::json::parse(R"({"kind": "tokens", "dtype": "uint16", "tokens": 50})"));
  report.data = {.documents = data::Documents::kApart, .num_documents = 7, .documents_left_out = 2};
  json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json.at("data").at("documents"), 7);
  EXPECT_EQ(json.at("data").at("documents_left_out"), 2);
}

TEST(Report, NamesThePairsOfTiersBetweenWhichSomethingMoved) {
  JobReport report = example();
  report.ranks[1].transfers.add(Tier::kHost, Tier::kDevice, 100);
  report.ranks[1].transfers.add(Tier::kHost, Tier::kDevice, 20);
  report.ranks[1].transfers.add(Tier::kDevice, Tier::kDisk, 3);
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json.at("ranks").at(0).at("transfers"), nlohmann::json::object());
  EXPECT_EQ(json.at("ranks").at(1).at("transfers"),
            nlohmann::json::parse(R"({"host_to_device": {"count": 2, "bytes": 120},
                                      "device_to_disk": {"count": 1, "bytes": 3}})"));
}

TEST(Report, ListsThePlacementsOfParameters) {
  JobReport report = example();
  EXPECT_EQ(nlohmann::json::parse(to_json(report)).at("placements"), nlohmann::json::array());
  report.placements = {{"head.weight", {8, 4}, {{"dp", "R"}, {"tp", "S1"}}, 3}};
  EXPECT_EQ(nlohmann::json::parse(to_json(report)).at("placements"),
            nlohmann::json::parse(R"([{"name": "head.weight", "shape": [8, 4],
                                       "placements": {"dp": "R", "tp": "S1"}, "stage": 3}])"));
}

TEST(Report, GeneratedBytesNeedNotBeUtf8) {
  JobReport report = example();
  EXPECT_FALSE(nlohmann::json::parse(to_json(report)).contains("text"));
  report.mode = "generate";
  report.text = "\xc3\xa4\x1b\xff.";
  EXPECT_EQ(nlohmann::json::parse(to_json(report)).at("text"), "\u00e4\x1b\uFFFD.");
}

TEST(Report, TableHasALinePerRank) {
  const std::string text = table(example());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("rank  stage"));
  EXPECT_THAT(text, HasSubstr("1,234,567"));
  EXPECT_THAT(text, HasSubstr("13.0 MiB"));
}

TEST(Report, HasThePlannedStepBesideTheMeasuredOne) {
  JobReport report = example();
  EXPECT_FALSE(nlohmann::json::parse(to_json(report)).contains("planned"));
  report.planned = PlannedStep{"m.yaml", 0.5, 1 << 20};
  report.step_seconds = {0.25, 0.75, 1.5};
  EXPECT_EQ(nlohmann::json::parse(to_json(report)).at("planned"),
            nlohmann::json::parse(
                R"({"machine": "m.yaml", "step_seconds": 0.5, "peak_tensor_bytes": 1048576})"));
  EXPECT_THAT(table(report), HasSubstr("planned on m.yaml: 0.5 s per step, measured 0.75 s (median "
                                       "of 3 steps); peak 1.0 MiB, measured "));
}

TEST(Report, IsWrittenWhole) {
  const auto file =
      std::filesystem::temp_directory_path() / ("report_test." + std::to_string(getpid()));
  check_writable(file.string(), "report");
  EXPECT_FALSE(std::filesystem::exists(file));
  write_report(example(), file.string());
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_EQ(text.str(), to_json(example()));
  std::filesystem::remove(file);
}

TEST(Report, APathThatCannotBeWrittenIsAnError) {
  EXPECT_THAT([] { check_writable("/nonexistent/report.json", "report"); },
              ThrowsError(ErrorCode::kUnavailable,
                          "cannot write the report '/nonexistent/report.json': No such file"));
  EXPECT_THAT(
      [] { check_writable("/tmp", "report"); },
      ThrowsError(ErrorCode::kUnavailable, "cannot write the report '/tmp': it is a folder"));
}

}  // namespace
}  // namespace phi::job
