// All rule functions that the YAML names.
#pragma once

#include "distributed/spmd/rules/attention.h"
#include "distributed/spmd/rules/concat.h"
#include "distributed/spmd/rules/conv.h"
#include "distributed/spmd/rules/einsum.h"
#include "distributed/spmd/rules/elementwise.h"
#include "distributed/spmd/rules/indexing.h"
#include "distributed/spmd/rules/lookup.h"
#include "distributed/spmd/rules/matmul.h"
#include "distributed/spmd/rules/norm.h"
#include "distributed/spmd/rules/optimizer.h"
#include "distributed/spmd/rules/reduction.h"
#include "distributed/spmd/rules/reshape.h"
#include "distributed/spmd/rules/shape.h"
#include "distributed/spmd/rules/sort.h"
