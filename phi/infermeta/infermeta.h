// All shape functions; what generated code includes.
#pragma once

#include "phi/infermeta/creation.h"
#include "phi/infermeta/elementwise.h"
#include "phi/infermeta/matmul.h"
#include "phi/infermeta/reduce.h"
#include "phi/infermeta/shape.h"
