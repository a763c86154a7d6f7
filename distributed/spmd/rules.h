// All rule functions that yaml/ops.yaml names.
#pragma once

#include "distributed/spmd/rules/elementwise.h"
#include "distributed/spmd/rules/matmul.h"
