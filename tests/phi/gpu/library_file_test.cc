// Libraries that are loaded at run time: where they are looked for, and what is said where they, or
// functions of theirs, are not there.
#include "phi/gpu/library_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_matchers.h"

namespace phi::gpu {
namespace {

LibrarySpec named(const std::string& name, const std::string& known_place) {
  return {name, known_place, "sines need libm", "Install a C library"};
}

TEST(LibraryFile, GivesFunctions) {
  for (const auto& library : {named("libm.so.6", "nowhere"), named("nowhere.so", "libm.so.6")}) {
    const LibraryFile file(library);
    EXPECT_EQ(file.function<double (*)(double)>("cos")(0.0), 1.0);
  }
}

TEST(LibraryFile, SaysWhatIsNotThere) {
  EXPECT_THAT([] { LibraryFile(named("nowhere.so", "/no/where.so")); },
              ThrowsError(ErrorCode::kUnavailable, "sines need libm, and it cannot be loaded: "));
  EXPECT_THAT(
      [] { LibraryFile(named("nowhere.so", "/no/where.so")); },
      ThrowsError(ErrorCode::kUnavailable,
                  "Install a C library, or add the folder of nowhere.so to LD_LIBRARY_PATH."));
  EXPECT_THAT([] { LibraryFile(named("libm.so.6", "")).function<void (*)()>("no_such_sine"); },
              ThrowsError(ErrorCode::kUnavailable,
                          "libm.so.6 lacks the function no_such_sine. Install a C library."));
}

}  // namespace
}  // namespace phi::gpu
