// The types of attributes, as C++ takes them: what is made for each of them is compiled once.
#pragma once

/// Those that placements and shapes may depend on; each may be optional.
#define PHI_EACH_DECIDING_ATTRIBUTE_TYPE(make)                                                     \
  make(bool) make(int) make(int64_t) make(size_t) make(float) make(double) make(std::string)       \
      make(DataType) make(Scalar) make(IntArray) make(std::vector<int>) make(std::vector<int64_t>) \
          make(std::vector<float>) make(std::vector<double>) make(std::vector<bool>)               \
              make(std::vector<std::string>) make(std::vector<Scalar>)
/// All of them.
#define PHI_EACH_ATTRIBUTE_TYPE(make) \
  PHI_EACH_DECIDING_ATTRIBUTE_TYPE(make) make(DataLayout) make(Place)
