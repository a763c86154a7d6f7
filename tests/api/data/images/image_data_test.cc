// Images of folders and of CIFAR's files as samples: order, values, and what each rank reads.
#include "api/data/images/image_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "tests/phi/memory/scratch_folder.h"
#include "tests/support/error_matchers.h"

namespace phi::data {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A record of CIFAR-10 whose red is `label`, green 100 and blue 200 everywhere.
std::string record(uint8_t label, uint8_t coarse_bytes = 0) {
  std::string out(coarse_bytes, '\x05');
  out.push_back(static_cast<char>(label));
  out.append(1024, static_cast<char>(label));
  out.append(1024, static_cast<char>(100));
  out.append(1024, static_cast<char>(200));
  return out;
}

class Images : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    const fs::path path = folder_.file(name);
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  ImageOptions cifar(int records) const {
    std::string bytes;
    for (int i = 0; i < records; ++i) bytes += record(static_cast<uint8_t>(i % 10));
    return {.format = ImageFormat::kCifar10, .paths = {write("data.bin", bytes)}};
  }
  // The message for wrong files or options.
  static std::string fault(const ImageOptions& options) {
    try {
      const ImageData data(options);
      return "no error";
    } catch (const Error& error) {
      return error.what();
    }
  }

  const memory::ScratchFolder folder_;
};

std::vector<int64_t> labels_of(const ImageData& data, int64_t first, int64_t batch) {
  return data.labels(first, batch).to_vector<int64_t>();
}

TEST_F(Images, EachEpochHasEachImageOnce) {
  const ImageData data(cifar(10));
  std::vector<int64_t> before;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> labels = labels_of(data, 10 * epoch, 10);
    EXPECT_NE(labels, before) << "epochs differ in order";
    before = labels;
    std::ranges::sort(labels);
    EXPECT_THAT(labels, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  }
}

// As docs/data.md computes it.
TEST(EpochOrder, IsTheDocumentedOne) {
  const EpochOrder order(6, 1);
  std::vector<int64_t> drawn;
  for (int64_t n = 0; n < 12; ++n) drawn.push_back(order.sample_at(n));
  EXPECT_THAT(drawn, ElementsAre(2, 1, 5, 4, 0, 3, 0, 1, 2, 4, 5, 3));
}

TEST_F(Images, ASampleDependsOnItsNumberAlone) {
  const ImageData data(cifar(7));
  const std::vector<int64_t> all = labels_of(data, 0, 21);
  for (int64_t n = 0; n < 21; ++n) EXPECT_EQ(labels_of(data, n, 1)[0], all[static_cast<size_t>(n)]);
  ImageOptions other = cifar(7);
  other.seed = 2;
  EXPECT_NE(labels_of(ImageData(other), 0, 21), all);
}

TEST_F(Images, ValuesAreNormalisedByChannel) {
  ImageOptions options = cifar(3);
  options.mean = {0.0, 0.5, 0.25};
  options.std = {1.0, 0.5, 2.0};
  const ImageData data(options);
  const Tensor images = data.inputs(0, 3);
  EXPECT_EQ(images.shape(), (Dims{3, 3, 32, 32}));
  const std::vector<float> values = images.to_vector<float>();
  const std::vector<int64_t> labels = labels_of(data, 0, 3);
  for (size_t row = 0; row < 3; ++row) {
    const float* image = values.data() + row * 3072;
    EXPECT_FLOAT_EQ(image[5], static_cast<float>(labels[row]) / 255.0f);
    EXPECT_FLOAT_EQ(image[1024 + 5], (100.0f / 255.0f - 0.5f) / 0.5f);
    EXPECT_FLOAT_EQ(image[2048 + 5], (200.0f / 255.0f - 0.25f) / 2.0f);
  }
}

TEST_F(Images, OneChannelIsLuma) {
  ImageOptions options = cifar(1);
  options.channels = 1;
  options.mean = {0.0};
  options.std = {1.0};
  const std::vector<float> values = ImageData(options).inputs(0, 1).to_vector<float>();
  EXPECT_EQ(values.size(), 1024u);
  EXPECT_NEAR(values[0], (0.587 * 100 + 0.114 * 200) / 255.0, 1e-6);
}

TEST_F(Images, HalfPrecisionIsRounded) {
  ImageOptions options = cifar(1);
  options.dtype = DataType::BFLOAT16;
  const Tensor images = ImageData(options).inputs(0, 1);
  EXPECT_EQ(images.dtype(), DataType::BFLOAT16);
  EXPECT_NEAR(static_cast<float>(images.to_vector<bfloat16>()[1024]), (100 / 255.0 - 0.5) / 0.5,
              1e-3);
}

TEST_F(Images, FineLabelsOfCifar100AreTheClasses) {
  const ImageOptions options = {.format = ImageFormat::kCifar100,
                                .paths = {write("fine.bin", record(99, 1))},
                                .classes = 100};
  EXPECT_THAT(labels_of(ImageData(options), 0, 1), ElementsAre(99));
}

// Of a split batch each rank reads its rows.
TEST_F(Images, ARankReadsItsRowsOnly) {
  const ImageOptions options = cifar(8);
  distributed::run_ranks(2, [&](distributed::World& world) {
    const ImageData data(options);
    const distributed::ProcessMesh mesh({2}, {"dp"});
    const TransferCount& read = world.rank_context().transfers().of(Tier::kDisk, Tier::kDevice);
    const Tensor own = distributed::shard_tensor(data.labels(0, 8), mesh, {distributed::Shard(0)});
    EXPECT_EQ(read.bytes, 4);
    const std::vector<int64_t> all = labels_of(data, 0, 8);
    const auto begin = all.begin() + 4 * world.rank();
    EXPECT_EQ(own.local().to_vector<int64_t>(), (std::vector<int64_t>(begin, begin + 4)));
    const Tensor images =
        distributed::shard_tensor(data.inputs(0, 8), mesh, {distributed::Shard(0)});
    EXPECT_EQ(images.local().numel(), 4 * 3072);
    EXPECT_EQ(read.bytes, 4 + 8 + 4 * 3073);  // labels_of has read all 8
    const std::vector<float> whole = data.inputs(0, 8).to_vector<float>();
    const auto first = whole.begin() + 4 * 3072 * world.rank();
    EXPECT_EQ(images.local().to_vector<float>(), (std::vector<float>(first, first + 4 * 3072)));
  });
}

TEST_F(Images, WrongFilesOfCifarAreTold) {
  EXPECT_THAT(fault({.format = ImageFormat::kCifar10, .paths = {write("short.bin", "abc")}}),
              HasSubstr("short.bin' has 3 bytes, which is not a multiple of a record of cifar10 "
                        "(3073 bytes)"));
  EXPECT_THAT(fault({.format = ImageFormat::kCifar10, .paths = {folder_.path()}}),
              HasSubstr("is a folder; list its files of cifar10"));
  ImageOptions five = cifar(1);
  five.classes = 5;
  EXPECT_THAT(fault(five), HasSubstr("data of format cifar10 has 10 classes, and the model has 5"));
  const ImageData data({.format = ImageFormat::kCifar10, .paths = {write("bad.bin", record(10))}});
  EXPECT_THAT([&] { labels_of(data, 0, 1); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "bad.bin': record 0 has the class 10, but classes are 0 to 9"));
}

TEST_F(Images, FoldersAreClassesInTheOrderOfTheirNames) {
  write("train/cat/1.png", "x");
  write("train/cat/notes.txt", "x");
  write("train/ant/2.JPG", "x");
  write("train/ant/.hidden.png", "x");
  write("train/README", "x");
  write("more/cat/3.jpeg", "x");
  const auto files =
      ImageFiles::open({.paths = {folder_.file("train"), folder_.file("more")}, .classes = 2});
  ASSERT_EQ(files->count(), 3);
  EXPECT_THAT(files->files(), ElementsAre(HasSubstr("ant/2.JPG"), HasSubstr("train/cat/1.png"),
                                          HasSubstr("more/cat/3.jpeg")));
  EXPECT_EQ(files->label(0), 0);
  EXPECT_EQ(files->label(1), 1);
  EXPECT_EQ(files->label(2), 1);
  EXPECT_EQ(files->files_left_out(), 2);
  EXPECT_THAT([&] { files->read(1); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "train/cat/1.png' is neither a PNG nor a JPEG file (1 bytes)"));
}

TEST_F(Images, WrongFoldersAreTold) {
  write("train/cat/1.png", "x");
  fs::create_directories(folder_.file("empty/cat"));
  EXPECT_THAT(fault({.paths = {folder_.file("train")}, .classes = 3}),
              HasSubstr("the data has 1 folders of classes in"));
  EXPECT_THAT(fault({.paths = {folder_.file("empty")}, .classes = 1}),
              HasSubstr("there is no .png, .jpg or .jpeg file"));
  EXPECT_THAT(fault({.paths = {folder_.file("train/cat/1.png")}, .classes = 1}),
              HasSubstr("is a file; name a folder with a folder of images for each class"));
  EXPECT_THAT(fault({.paths = {"no/such"}}), HasSubstr("no file or folder 'no/such'"));
}

TEST_F(Images, WrongOptionsAreTold) {
  ImageOptions options = cifar(1);
  options.channels = 2;
  EXPECT_THAT(fault(options), HasSubstr("images have 1 channel (luma) or 3"));
  options = cifar(1);
  options.mean = {0.1, 0.2};
  EXPECT_THAT(fault(options), HasSubstr("mean is [0.1, 0.2]; it must be one number, or one for "
                                        "each of 3 channels"));
  options = cifar(1);
  options.std = {0.0};
  EXPECT_THAT(fault(options), HasSubstr("std is [0]; it must be more than 0"));
}

TEST_F(Images, TheSummaryCounts) {
  EXPECT_EQ(ImageData(cifar(4)).summary().to_string(), "4 images of 10 classes in 1 file");
}

TEST_F(Images, OtherFilesHaveAnotherFingerprint) {
  const ImageData four(cifar(4));
  const uint64_t content = four.content_fingerprint();
  EXPECT_NE(four.fingerprint(), ImageData(cifar(5)).fingerprint());
  write("data.bin", record(9) + record(9) + record(9) + record(9));
  const ImageData changed({.format = ImageFormat::kCifar10, .paths = {folder_.file("data.bin")}});
  EXPECT_EQ(four.fingerprint(), changed.fingerprint());
  EXPECT_NE(content, changed.content_fingerprint());
}

}  // namespace
}  // namespace phi::data
