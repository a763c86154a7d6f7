// The C++ types of attributes, as X-macros. Templates on an attribute type are instantiated once
// for each type of these lists.
#pragma once

/// Types on which placements and shapes may depend. std::optional of each is a type too.
#define PHI_EACH_DECIDING_ATTRIBUTE_TYPE(make)                                                     \
  make(bool) make(int) make(int64_t) make(size_t) make(float) make(double) make(std::string)       \
      make(DataType) make(Scalar) make(IntArray) make(std::vector<int>) make(std::vector<int64_t>) \
          make(std::vector<float>) make(std::vector<double>) make(std::vector<bool>)               \
              make(std::vector<std::string>) make(std::vector<Scalar>)
/// All attribute types.
#define PHI_EACH_ATTRIBUTE_TYPE(make) \
  PHI_EACH_DECIDING_ATTRIBUTE_TYPE(make) make(DataLayout) make(Place)
