// Patterns against a definition by recursion.
#include "api/nn/pattern.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace phi::nn {
namespace {

bool defined_by_recursion(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    return defined_by_recursion(pattern.substr(1), name) ||
           (!name.empty() && defined_by_recursion(pattern, name.substr(1)));
  }
  if (name.empty() || (pattern[0] != '?' && pattern[0] != name[0])) return false;
  return defined_by_recursion(pattern.substr(1), name.substr(1));
}

TEST(Matches, IsWhatRecursionSays) {
  constexpr unsigned kSeed = 5;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  const auto word = [&](std::string_view letters, size_t most) {
    std::string out;
    for (size_t n = random() % (most + 1); n > 0; --n) out += letters[random() % letters.size()];
    return out;
  };
  int met = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string pattern = word("ab*?", 6);
    const std::string name = word("ab", 8);
    EXPECT_EQ(matches(pattern, name), defined_by_recursion(pattern, name))
        << pattern << " " << name;
    met += matches(pattern, name) ? 1 : 0;
  }
  EXPECT_GT(met, 1000);
}

TEST(Matches, ManyStarsTakeNoTime) {
  const std::string name(5000, 'a');
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*b", name));
}

}  // namespace
}  // namespace phi::nn
