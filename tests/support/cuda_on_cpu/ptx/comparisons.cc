// Comparisons, selections and predicates.
#include <cmath>

#include "support/cuda_on_cpu/ptx/instruction_set.h"

namespace cuda_on_cpu::ptx {
namespace {

template <class T>
void add_ordered(Rows& rows, const std::string& type) {
  rows["setp.eq." + type] = computes<[](T a, T b) { return a == b; }>();
  rows["setp.ne." + type] = computes<[](T a, T b) { return a < b || b < a; }>();
  rows["setp.lt." + type] = computes<[](T a, T b) { return a < b; }>();
  rows["setp.le." + type] = computes<[](T a, T b) { return a <= b; }>();
  rows["setp.gt." + type] = computes<[](T a, T b) { return b < a; }>();
  rows["setp.ge." + type] = computes<[](T a, T b) { return b <= a; }>();
}

// Unordered comparisons: true for NaN.
template <class T>
void add_unordered(Rows& rows, const std::string& type) {
  rows["setp.equ." + type] = computes<[](T a, T b) { return !(a < b || b < a); }>();
  rows["setp.neu." + type] = computes<[](T a, T b) { return !(a == b); }>();
  rows["setp.ltu." + type] = computes<[](T a, T b) { return !(b <= a); }>();
  rows["setp.leu." + type] = computes<[](T a, T b) { return !(b < a); }>();
  rows["setp.gtu." + type] = computes<[](T a, T b) { return !(a <= b); }>();
  rows["setp.geu." + type] = computes<[](T a, T b) { return !(a < b); }>();
  rows["setp.nan." + type] = computes<[](T a, T b) { return std::isnan(a) || std::isnan(b); }>();
  rows["setp.num." + type] = computes<[](T a, T b) { return !std::isnan(a) && !std::isnan(b); }>();
}

template <class T>
void add_choice(Rows& rows, std::initializer_list<const char*> types) {
  for (const char* type : types) {
    rows[std::string("selp.") + type] =
        computes<[](T a, T b, bool first) { return first ? a : b; }>();
  }
}

}  // namespace

void add_comparisons(Rows& rows) {
  add_ordered<int16_t>(rows, "s16");
  add_ordered<int32_t>(rows, "s32");
  add_ordered<int64_t>(rows, "s64");
  add_ordered<uint16_t>(rows, "u16");
  add_ordered<uint32_t>(rows, "u32");
  add_ordered<uint64_t>(rows, "u64");
  add_ordered<uint16_t>(rows, "b16");
  add_ordered<uint32_t>(rows, "b32");
  add_ordered<uint64_t>(rows, "b64");
  add_ordered<float>(rows, "f32");
  add_ordered<double>(rows, "f64");
  add_unordered<float>(rows, "f32");
  add_unordered<double>(rows, "f64");
  add_choice<uint16_t>(rows, {"b16", "s16", "u16"});
  add_choice<uint32_t>(rows, {"b32", "s32", "u32", "f32"});
  add_choice<uint64_t>(rows, {"b64", "s64", "u64", "f64"});
  rows["and.pred"] = computes<[](bool a, bool b) { return a && b; }>();
  rows["or.pred"] = computes<[](bool a, bool b) { return a || b; }>();
  rows["xor.pred"] = computes<[](bool a, bool b) { return a != b; }>();
  rows["not.pred"] = computes<[](bool a) { return !a; }>();
}

}  // namespace cuda_on_cpu::ptx
