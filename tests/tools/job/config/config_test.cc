// Job files: defaults, every kind of wrong input with the message that it gets, meshes.
#include "tools/job/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/error_matchers.h"

namespace phi::job {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& yaml, int64_t world_size = 1,
                     const std::string& mesh = "") {
  try {
    JobConfig config = parse_job(yaml, "job.yaml");
    std::string note;
    resolve_mesh(&config, world_size, mesh, &note);
  } catch (const Error& error) {
    return words_of(error);
  }
  return "no error";
}

TEST(JobConfig, AnEmptyFileIsTheDefaultJob) {
  for (const char* text : {"", "# nothing\n", "model:\n", "{}"}) {
    const JobConfig config = parse_job(text, "job.yaml");
    EXPECT_EQ(config.mode, "forward");
    EXPECT_EQ(config.model.values.size("d_model"), 384);
    EXPECT_EQ(config.model.values.size("heads"), 6);
    EXPECT_EQ(config.data.paths, (std::vector<std::string>{"phi", "distributed"}));
    EXPECT_EQ(config.run.micro_batch_size(), 2);
    EXPECT_EQ(config.run.dtype, DataType::FLOAT32);
    EXPECT_TRUE(config.mesh.shape.empty());
  }
}

TEST(JobConfig, ReadsEveryKey) {
  const JobConfig config = parse_job(R"(
mode: generate
model: {kind: gpt, vocab: 300, seq_len: 16, d_model: 20, layers: 3, heads: 5, mlp_ratio: 2, dropout: 0.25, seed: 7}
mesh: {shape: [2, 3], dims: [tp, pp]}
data: {kind: tokens, paths: [a, b/c], dtype: uint32, documents: apart, seed: 9}
run: {steps: 5, global_batch: 12, micro_batches: 3, dtype: bfloat16, sequence_parallel: true}
weights: w
generate: {prompt: "a\n", tokens: 7, temperature: 0.5, top_k: 4, top_p: 0.75, seed: 3}
)",
                                     "job.yaml");
  EXPECT_EQ(config.mode, "generate");
  EXPECT_EQ(config.model.values.size("vocab"), 300);
  EXPECT_EQ(config.model.dropout(), 0.25);
  EXPECT_EQ(config.model.seed, 7);
  EXPECT_EQ(config.mesh.num_ranks(), 6);
  EXPECT_EQ(config.mesh.extent("pp"), 3);
  EXPECT_EQ(config.mesh.extent("dp"), 1);
  EXPECT_EQ(config.mesh.to_string(), "tp=2 pp=3");
  EXPECT_EQ(config.data.paths, (std::vector<std::string>{"a", "b/c"}));
  EXPECT_EQ(config.data.kind, data::DataKind::kTokens);
  EXPECT_EQ(config.data.dtype, data::TokenType::kUint32);
  EXPECT_EQ(config.data.documents, data::Documents::kApart);
  EXPECT_EQ(config.run.micro_batch_size(), 4);
  EXPECT_EQ(config.run.dtype, DataType::BFLOAT16);
  EXPECT_TRUE(config.run.sequence_parallel);
  EXPECT_EQ(config.weights, "w");
  EXPECT_EQ(config.generate.tokens, 7);
  EXPECT_EQ(config.generate.sampling.temperature, 0.5);
  EXPECT_EQ(config.generate.sampling.top_k, 4);
  EXPECT_EQ(config.generate.sampling.top_p, 0.75);
  EXPECT_EQ(config.generate.sampling.seed, 3);
}

TEST(JobConfig, ReadsEveryKeyOfALlama) {
  const ModelConfig model = parse_job(R"(
model: {kind: llama, vocab: 300, seq_len: 16, d_model: 48, layers: 3, heads: 6, kv_heads: 2, ffn: 100,
        rope_base: 5.0e5, norm_eps: 1.0e-6, seed: 7}
)",
                                      "job.yaml")
                                .model;
  EXPECT_EQ(model.kind, "llama");
  EXPECT_EQ(model.values.size("kv_heads"), 2);
  EXPECT_EQ(model.values.size("ffn"), 100);
  EXPECT_EQ(model.values.number("rope_base"), 5e5);
  EXPECT_EQ(model.values.number("norm_eps"), 1e-6);
}

TEST(JobConfig, ALlamaHasAsManyHeadsOfKeysAsOfQueries) {
  EXPECT_EQ(parse_job("model: {kind: llama}", "job.yaml").model.values.size("kv_heads"), 6);
  EXPECT_EQ(parse_job("model: {kind: llama, heads: 8}", "job.yaml").model.values.size("kv_heads"),
            8);
}

struct BadFile {
  const char* yaml;
  const char* message;
};

std::ostream& operator<<(std::ostream& out, const BadFile& bad) { return out << bad.yaml; }

class BadJobFile : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadJobFile, IsOneClearError) {
  EXPECT_THAT(error_of(GetParam().yaml), HasSubstr(GetParam().message)) << GetParam().yaml;
}

const BadFile kBadFiles[] = {
    // Keys.
    {"mdoel: {}", "job.yaml:1: key 'mdoel': there is no such key, did you mean 'model'?"},
    {"mode: forward\nmodel:\n  layer: 3",
     "job.yaml:3: key 'model.layer': there is no such key, "
     "did you mean 'layers'?"},
    {"run: {xyzzy: 1}", "key 'run.xyzzy': there is no such key (steps, global_batch"},
    {"run:\n  steps: 1\n  steps: 2", "job.yaml:3: key 'run.steps': set twice, first in line 2."},
    {"[1]: 2", "job.yaml:1: key 'a list': there is no such key"},
    // Types.
    {"model: 3", "job.yaml:1: 'model' must be a map of kind, vocab"},
    {"[1, 2]",
     "job.yaml:1: a job file must be a map of mode, place, ops, models, model, mesh, data, run, "
     "pipeline, placements, optimizer, checkpoint, elastic, memory, weights, generate, plan, got a "
     "list."},
    {"model: {layers: six}", "key 'model.layers': must be an integer; got 'six'."},
    {"model: {layers: 1.5}", "key 'model.layers': must be an integer; got '1.5'."},
    {"model: {layers: '6'}", "key 'model.layers': must be an integer; got '6'."},
    {"model: {layers: [6]}", "key 'model.layers': must be an integer; got a list."},
    {"model: {layers: }", "key 'model.layers': must be an integer; got nothing."},
    {"model: {layers: 99999999999999999999}", "key 'model.layers': must be an integer"},
    {"model: {dropout: much}", "key 'model.dropout': must be a number that is 0 or more"},
    {"run: {sequence_parallel: 3}", "key 'run.sequence_parallel': must be true or false; got '3'."},
    {"data: {paths: phi}", "key 'data.paths': must be a list of files or folders; got 'phi'."},
    {"data: {paths: [{a: 1}]}", "key 'data.paths': must be a list of files or folders; got a map."},
    {"mesh: {shape: 8}", "key 'mesh.shape': must be a list of integers, e.g. [2, 2]; got '8'."},
    {"mesh: {shape: [2, two]}", "key 'mesh.shape': must be an integer; got 'two'."},
    {"mode: [forward]", "key 'mode': must be one of forward, train, generate; got a list."},
    // Values.
    {"mode: fordward",
     "key 'mode': must be one of forward, train, generate; got 'fordward', did "
     "you mean 'forward'?"},
    {"model: {kind: lama}",
     "key 'model.kind': must be one of gpt, llama, resnet, vit, or of a library in the key "
     "'models'; got "
     "'lama', did you mean 'llama'?"},
    {"model: {kind: llama, kv_heads: 4}",
     "key 'model.kv_heads': 4 kv_heads do not divide heads 6; the same number of query heads must "
     "share"},
    {"model: {kind: llama, heads: 6, d_model: 18}",
     "key 'model.heads': heads of 3 (d_model 18 / heads 6) are odd; rotary positions rotate pairs"},
    {"model: {kind: llama, ffn: 0}", "key 'model.ffn': must be an integer from 1 to"},
    {"model: {kind: llama, rope_base: 0}", "key 'model.rope_base': must be a number from 1 to"},
    {"model: {kind: llama, norm_eps: -1}", "key 'model.norm_eps': must be a number from 0 to"},
    {"model: {vocab: 0}", "key 'model.vocab': must be an integer from 1 to"},
    {"model: {vocab: 255}",
     "job.yaml:1: key 'model.vocab': 255 is less than 256: data of kind bytes has ids up to 255. "
     "Use 256 or more, or data.kind: tokens or megatron."},
    {"mode: generate\nmodel:\n  vocab: 50",
     "job.yaml:3: key 'model.vocab': 50 is less than 256: mode generate writes text, one byte "
     "per token. Use 256 or more."},
    {"data: {kind: token}",
     "key 'data.kind': must be one of bytes, tokens, megatron, images; got 'token', did you mean "
     "'tokens'?"},
    // Models and data of images.
    {"model: {kind: resnet}",
     "job.yaml:1: key 'model.kind': is bytes, and a model of kind resnet takes images; set data: "
     "{kind: images, paths: [..]}."},
    {"data:\n  kind: megatron",
     "job.yaml:2: key 'data.kind': name the files of megatron in data.paths."},
    {"data: {kind: tokens, paths: [a], dtype: float32}",
     "key 'data.dtype': must be one of uint8, int8, uint16, int16, uint32, int32, int64; got "
     "'float32'"},
    {"data: {documents: separate}", "key 'data.documents': must be one of joined, apart; got"},
    {"model: {layers: 0}", "key 'model.layers': must be an integer from 1 to"},
    {"model: {seed: -1}", "key 'model.seed': must be an integer from 0 to"},
    {"model: {dropout: 1.0}", "less than 1; got '1.0'."},
    {"model: {dropout: .nan}", "less than 1; got '.nan'."},
    {"model: {heads: 5}", "key 'model.heads': 5 heads do not divide d_model 384"},
    {"model:\n  d_model: 100",
     "job.yaml:2: key 'model.d_model': 6 heads do not divide d_model 100"},
    {"run: {micro_batches: 3}",
     "key 'run.micro_batches': 3 micro-batches do not divide "
     "global_batch 8"},
    {"run: {global_batch: 6}", "key 'run.global_batch': 4 micro-batches do not divide"},
    {"run: {dtype: float8}",
     "key 'run.dtype': must be one of float32, bfloat16, float16; got 'float8'"},
    {"run:\n  capture: yes please", "job.yaml:2: key 'run.capture': must be true or false"},
    {"model: {dropout: 0.1}\nrun:\n  capture: true",
     "job.yaml:3: key 'run.capture': dropout draws new random numbers in each step, and a "
     "captured step repeats its numbers; set model.dropout to 0, or run.capture to false."},
    {"data: {paths: []}", "key 'data.paths': name at least one path."},
    {"generate: {top_p: 0}", "key 'generate.top_p': 0 keeps no token; use 1 for all"},
    {"generate: {top_p: 1.5}", "key 'generate.top_p': must be a number from 0 to 1; got '1.5'."},
    {"generate: {temperature: -1}", "key 'generate.temperature': must be a number from 0 to"},
    {"generate: {tokens: 0}", "key 'generate.tokens': must be an integer from 1 to"},
    {"generate: {top_k: -1}", "key 'generate.top_k': must be an integer from 0 to"},
    {"generate: {prompt: [a]}", "key 'generate.prompt': must be a text; got a list."},
    {"generate: {promt: a}", "'generate.promt': there is no such key, did you mean 'prompt'?"},
    // Meshes.
    {"mesh: {dims: [dp]}", "key 'mesh.dims': dims need a shape; set mesh.shape too."},
    {"mesh: {shape: []}", "key 'mesh.shape': shape must name at least one extent."},
    {"mesh: {shape: [0]}", "key 'mesh.shape': must be an integer from 1 to"},
    {"mesh: {shape: [2, 2]}", "key 'mesh.shape': 2 extents need the same number of names in dims"},
    {"mesh: {shape: [2], dims: [dp, tp]}",
     "key 'mesh.dims': 1 extents need the same number of names"},
    {"mesh: {shape: [2], dims: [ep]}", "key 'mesh.dims': mesh dim 'ep' is not one of dp, pp, tp."},
    {"mesh: {shape: [2, 2], dims: [dp, dp]}", "key 'mesh.dims': mesh dim 'dp' is named twice."},
    {"mesh: {shape: [16777216, 16777216, 16777216]}",
     "key 'mesh.shape': extents must be 1 or more"},
    // Pipeline and placements.
    {"pipeline: {cut: 3}", "key 'pipeline.cut': must be a list of integers"},
    {"pipeline: {cut: [0, 6]}", "key 'pipeline.cut': must be an integer from 1 to"},
    {"pipeline: {cuts: [6]}", "key 'pipeline.cuts': there is no such key, did you mean 'cut'?"},
    {"placements: {parameter: {}}",
     "key 'placements.parameter': there is no such key, did you mean 'parameters'?"},
    {"placements:\n  parameters: [head]",
     "job.yaml:2: key 'placements.parameters': must be a map of patterns to placements, e.g. "
     "{layer*.up.weight: {tp: S1}}; got 'head'."},
    {"placements:\n  parameters:\n    [a]: {tp: R}",
     "job.yaml:2: key 'placements.parameters': a list in line 3 is no pattern of names."},
    {"placements:\n  outputs:\n    head: {tp: R}\n    head: {dp: R}",
     "job.yaml:2: key 'placements.outputs': 'head' is set twice, again in line 4. Write one row, "
     "or "
     "a list of maps: [{head: ..}, {head: ..}]."},
    {"placements:\n  inputs:\n    head: R",
     "job.yaml:3: key 'placements.inputs.head': placements are a map of mesh dims, e.g. {tp: S1, "
     "dp: R}; got 'R'."},
    {"placements:\n  inputs:\n    head: {tp: Q}",
     "job.yaml:3: key 'placements.inputs.head': 'Q' along mesh dim 'tp' is no placement; write R, "
     "S0, S0.1, P(sum), P(avg), P(max), ...."},
    {"placements: {inputs: {head: {tp: P(mean)}}}",
     "key 'placements.inputs.head': unknown reduce kind 'mean'; use one of sum"},
    {"placements: {inputs: {head: {tp: S9}}}", "'S9' along mesh dim 'tp' is no placement"},
    {"placements: {caches: {head: {tp: [S1]}}}", "a list along mesh dim 'tp' is no placement"},
    {"placements: {caches: {head: {tp: R, tp: S0}}}",
     "key 'placements.caches.head': mesh dim 'tp' is set twice."},
    {"placements: {caches: {head: {dpp: R}}}",
     "key 'placements.caches.head': there is no mesh dim 'dpp', did you mean 'dp'?"},
    {"placements: {caches: {head: {model: R}}}",
     "key 'placements.caches.head': there is no mesh dim 'model'; use dp or tp."},
    {"placements: {caches: {head: {pp: R}}}",
     "key 'placements.caches.head': mesh dim pp splits a model into stages, and no tensors; use dp "
     "or tp here, and pipeline.cut for the stages."},
    // YAML.
    {"model: {layers: 3", "job.yaml:1: not valid YAML:"},
    {",a: b", "job.yaml:1: one document per file"},
    {"mode: forward\n---\nmode: forward", "job.yaml:2: one document per file"},
};

INSTANTIATE_TEST_SUITE_P(Table, BadJobFile, ::testing::ValuesIn(kBadFiles));

TEST(JobConfig, OnlyTextNeedsAVocabularyOfAllBytes) {
  EXPECT_EQ(error_of("model: {vocab: 3}\ndata: {kind: tokens, paths: [a]}"), "no error");
  EXPECT_EQ(error_of("model: {vocab: 1}\ndata: {kind: megatron, paths: [a]}"), "no error");
}

TEST(JobConfig, AFileThatIsNotThereIsNamed) {
  try {
    load_job("/nonexistent/job.yaml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(words_of(error, ErrorCode::kNotFound),
              "cannot read job file '/nonexistent/job.yaml': No such file or directory.");
  }
  EXPECT_THAT([] { load_job("/tmp"); },
              ThrowsError(ErrorCode::kNotFound, "cannot read job file '/tmp': it is a folder."));
}

MeshConfig settled(const std::string& yaml, int64_t world_size, const std::string& flag = "",
                   std::string* note = nullptr) {
  JobConfig config = parse_job(yaml, "job.yaml");
  std::string ignored;
  resolve_mesh(&config, world_size, flag, note != nullptr ? note : &ignored);
  return config.mesh;
}

TEST(SettleMesh, WithoutAMeshAllProcessesAreDataParallel) {
  EXPECT_EQ(settled("", 4).to_string(), "dp=4");
}

TEST(SettleMesh, WithoutDimsThreeExtentsAreDpPpTp) {
  EXPECT_EQ(settled("mesh: {shape: [2, 3, 1]}", 6).to_string(), "dp=2 pp=3 tp=1");
  EXPECT_EQ(settled("mesh: {shape: [3]}", 3).to_string(), "dp=3");
}

TEST(SettleMesh, OneProcessRunsAnyJobAndSaysSo) {
  std::string note;
  const MeshConfig mesh = settled("mesh: {shape: [2, 2, 2]}", 1, "", &note);
  EXPECT_EQ(mesh.to_string(), "dp=1 pp=1 tp=1");
  EXPECT_THAT(note, HasSubstr("one process, so the job runs on a mesh of 1 instead of dp=2 pp=2 "
                              "tp=2; start 8 with `mpirun -n 8`"));
}

TEST(SettleMesh, AMeshOfAnotherSizeNamesBothNumbers) {
  const std::string error = error_of("mesh:\n  shape: [2, 2, 2]", 4);
  EXPECT_EQ(error,
            "job.yaml:2: key 'mesh.shape': the mesh dp=2 pp=2 tp=2 has 8 ranks, but 4 processes "
            "are running. Start it with `mpirun -n 8`, or set a mesh of 4 (mesh.shape in the "
            "file, or --mesh).");
}

TEST(SettleMesh, TheFlagReplacesTheFilesMesh) {
  EXPECT_EQ(settled("mesh: {shape: [2, 2, 2]}", 4, "1x2x2").to_string(), "dp=1 pp=2 tp=2");
  EXPECT_EQ(settled("", 4, "tp=2,dp=2").to_string(), "tp=2 dp=2");
  EXPECT_EQ(settled("", 1, "1").to_string(), "dp=1");
  EXPECT_THAT(error_of("", 1, "dp=2"), HasSubstr("--mesh: the mesh dp=2 has 2 ranks, but 1 process "
                                                 "is running."));
}

TEST(SettleMesh, AModelThatDoesNotFitIsAnError) {
  EXPECT_THAT(error_of("model: {layers: 2}\nmesh: {shape: [1, 4, 1]}", 4),
              HasSubstr("key 'model.layers': 2 layers are fewer than the 4 pipeline stages"));
}

TEST(SettleMesh, EachRankAlongTpHoldsEquallyMuchOfALlama) {
  const auto error = [](const std::string& model) {
    return error_of("model: {kind: llama, " + model + "}", 4, "dp=2,tp=2");
  };
  EXPECT_THAT(error("kv_heads: 3"),
              HasSubstr("job.yaml:1: key 'model.kv_heads': tp 2 of the mesh dp=2 tp=2 does not "
                        "divide kv_heads 3; each rank along tp must own the same number."));
  EXPECT_THAT(error("ffn: 101"), HasSubstr("key 'model.ffn': tp 2 of the mesh dp=2 tp=2 does not"));
  EXPECT_THAT(error("vocab: 257"), HasSubstr("key 'model.vocab': tp 2 of the mesh"));
  EXPECT_EQ(error("kv_heads: 2"), "no error");
  // By default.
  EXPECT_THAT(error_of("model: {kind: llama}\nmesh: {shape: [1, 1, 5]}", 5),
              HasSubstr("job.yaml:2: key 'mesh.shape': tp 5 of the mesh dp=1 pp=1 tp=5 does not "
                        "divide kv_heads 6"));
}

TEST(SettleMesh, WhatTheFileDoesNotSayIsNamedAsDefault) {
  EXPECT_EQ(error_of("model: {kind: llama}", 5, "tp=5").substr(0, 52),
            "job.yaml: key 'model.kv_heads' (by default): tp 5 of");
}

TEST(SettleMesh, ACutIsOneNumberForEachChunk) {
  const std::string four = "mesh: {shape: [1, 4, 1]}\nmodel: {layers: 32}\n";
  EXPECT_EQ(error_of(four + "pipeline:\n  cut: [7, 9, 9, 7]", 4), "no error");
  EXPECT_EQ(error_of(four + "pipeline:\n  cut: [7, 9, 9]", 4),
            "job.yaml:4: key 'pipeline.cut': has 3 numbers, and the job has 4 chunks (4 stages of "
            "the mesh dp=1 pp=4 tp=1, run.chunks: 1); write 4 numbers with the sum 32, e.g. [8, 8, "
            "8, 8], or remove the key.");
  EXPECT_EQ(error_of(four + "pipeline:\n  cut: [7, 9, 9, 8]", 4),
            "job.yaml:4: key 'pipeline.cut': has the sum 33, and the model has 32 layers; write 4 "
            "numbers with the sum 32, e.g. [8, 8, 8, 8], or remove the key.");
  const std::string chunks = "run: {schedule: interleaved, chunks: 2}\n";
  EXPECT_THAT(error_of(four + chunks + "pipeline: {cut: [7, 9, 9, 7]}", 4),
              HasSubstr("has 4 numbers, and the job has 8 chunks (4 stages of the mesh dp=1 pp=4 "
                        "tp=1, run.chunks: 2); write 8 numbers with the sum 32, e.g. [4, 4"));
  EXPECT_EQ(error_of(four + chunks + "pipeline: {cut: [1, 2, 3, 4, 5, 6, 7, 4]}", 4), "no error");
}

// The file's cut is checked on the file's mesh, and means nothing on one rank.
TEST(SettleMesh, OneRankHasNoCut) {
  JobConfig config =
      parse_job("mesh: {shape: [2], dims: [pp]}\npipeline: {cut: [4, 2]}", "job.yaml");
  std::string note;
  resolve_mesh(&config, 1, "", &note);
  EXPECT_TRUE(config.pipeline.cut.empty());
  EXPECT_THAT(error_of("mesh: {shape: [2], dims: [pp]}\npipeline: {cut: [6]}"),
              HasSubstr("has 1 number, and the job has 2 chunks"));
}

TEST(SettleMesh, AnotherMeshNeedsAnotherCut) {
  const std::string job = "mesh: {shape: [2], dims: [pp]}\npipeline: {cut: [4, 2]}";
  EXPECT_EQ(error_of(job, 2, "dp=2"), "no error");
  EXPECT_EQ(error_of(job, 4, "dp=2,pp=2"), "no error");
  EXPECT_THAT(error_of(job, 3, "pp=3"), HasSubstr("job.yaml:2: key 'pipeline.cut': has 2 numbers, "
                                                  "and the job has 3 chunks (3 stages of the mesh "
                                                  "pp=3"));
}

TEST(SettleMesh, ARowsMeshDimIsOfTheMesh) {
  const std::string rows = "placements:\n  parameters:\n    head: {tp: R}\n";
  EXPECT_EQ(error_of(rows, 2, "tp=2"), "no error");
  EXPECT_EQ(error_of(rows, 1), "no error");
  EXPECT_EQ(error_of(rows + "mesh: {shape: [2], dims: [tp]}", 4, "dp=4"), "no error");
  EXPECT_EQ(error_of(rows, 4),
            "job.yaml:3: key 'placements.parameters.head': the mesh dp=4 has no mesh dim 'tp'; "
            "remove it from the row, or set a mesh that has it (mesh, or --mesh).");
}

TEST(Placements, RowsKeepTheOrderOfTheFile) {
  const JobConfig config = parse_job(R"(
placements:
  outputs: {layer*.down: {tp: S1}}
  parameters:
    - {"*": {tp: R, dp: S0}}
    - {head: {tp: S1.1}}
    - {"*": {}}
)",
                                     "job.yaml");
  const auto& rows = config.placements.rows();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].kind, nn::Layout::Kind::kOutputs);
  EXPECT_EQ(rows[0].pattern, "layer*.down");
  EXPECT_EQ(rows[1].axis_placements,
            (nn::AxisPlacements{{"tp", distributed::Replicate()}, {"dp", distributed::Shard(0)}}));
  EXPECT_EQ(rows[2].axis_placements, (nn::AxisPlacements{{"tp", distributed::Shard(1, 1)}}));
  EXPECT_EQ(rows[3].pattern, "*");
  EXPECT_TRUE(rows[3].axis_placements.empty());
}

TEST(MeshFlag, BadOnesSayHowToWriteIt) {
  for (const char* text : {"x", "2x", "2xx2", "2x2", "dp=", "dp=2,3", "ep=2", "dp=0", "-2", "2,2",
                           "dp=2,dp=2", "99999999999", "2x2x2x2", "=2", " "}) {
    try {
      parse_mesh_flag(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_THAT(words_of(error), HasSubstr("--mesh=" + std::string(text) + ": ")) << text;
      EXPECT_THAT(error.what(), HasSubstr("Write 2x2x2 (dp, pp, tp), 4 (dp) or dp=2,tp=2."));
    }
  }
}

// Whatever bytes a file has, the outcome is a config or an Error.
TEST(JobConfig, MutatedFilesNeverCrash) {
  const std::string good =
      "mode: forward\nmodel: {vocab: 256, seq_len: 16, dropout: 0.1}\nmesh: {shape: [2, 2], dims: "
      "[dp, tp]}\ndata: {paths: [a]}\nrun: {steps: 2, dtype: float32}\n"
      "pipeline: {cut: [4, 2]}\nplacements: {parameters: {head: {tp: S1}}, caches: [{a: {dp: "
      "R}}]}\n";
  const std::string letters = "{}[]:,-&*!|>'\"%@`# \n\t0a";
  uint64_t state = 12345;
  const auto random = [&state](size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>((state >> 33) % below);
  };
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (size_t edits = 1 + random(4); edits > 0; --edits) {
      const size_t at = random(text.size());
      if (random(3) == 0) {
        text.erase(at, random(8));
      } else {
        text[at] = letters[random(letters.size())];
      }
    }
    try {
      parse_job(text, "job.yaml");
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace phi::job
