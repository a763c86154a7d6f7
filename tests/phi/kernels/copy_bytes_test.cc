// copy_bytes: rows at every distance modulo a page that it treats for itself, whole, and nothing
// beside them.
#include "phi/kernels/cpu/copy_bytes.h"

#include <gtest/gtest.h>

#include <vector>

namespace phi {
namespace {

constexpr size_t kPage = 4096;
constexpr std::byte kUntouched{0xee};

/// An array that begins at a page, with room for `bytes` from any place of the page on.
class Pages {
 public:
  explicit Pages(size_t bytes) : bytes_(bytes + 3 * kPage, kUntouched) {}
  std::byte* at(size_t offset) {
    const auto address = reinterpret_cast<uintptr_t>(bytes_.data());
    return bytes_.data() + (kPage - address % kPage) + offset;
  }
  size_t touched() const {
    size_t count = 0;
    for (std::byte byte : bytes_) count += byte != kUntouched;
    return count;
  }

 private:
  std::vector<std::byte> bytes_;
};

void expect_copied(size_t from_at, size_t to_at, size_t nbytes) {
  SCOPED_TRACE(testing::Message() << nbytes << " bytes from " << from_at << " to " << to_at);
  Pages from(nbytes), to(nbytes);
  for (size_t i = 0; i < nbytes; ++i) from.at(from_at)[i] = static_cast<std::byte>(i % 211);
  copy_bytes(to.at(to_at), from.at(from_at), nbytes);
  for (size_t i = 0; i < nbytes; ++i) {
    ASSERT_EQ(to.at(to_at)[i], static_cast<std::byte>(i % 211)) << "at " << i;
  }
  EXPECT_EQ(to.touched(), nbytes);
}

TEST(CopyBytes, RowsThatMoveByAFewBytes) {
  for (size_t ahead = 0; ahead <= 40; ++ahead) {
    for (const size_t nbytes : {0u, 1u, 1023u, 1024u, 1025u, 1151u, 1152u, 4084u, 5000u}) {
      expect_copied(0, ahead, nbytes);
      expect_copied(17, 17 + ahead, nbytes);
      expect_copied(kPage - 8, (kPage - 8 + ahead) % kPage, nbytes);
    }
  }
}

TEST(CopyBytes, RowsThatMoveBack) {
  for (const size_t behind : {1u, 12u, 31u, 32u, 100u}) expect_copied(behind, 0, 4000);
}

}  // namespace
}  // namespace phi
