// All shape functions; what generated code includes.
#pragma once

#include "phi/infermeta/attention.h"
#include "phi/infermeta/creation.h"
#include "phi/infermeta/cross_entropy.h"
#include "phi/infermeta/data_dependent.h"
#include "phi/infermeta/elementwise.h"
#include "phi/infermeta/grad.h"
#include "phi/infermeta/lookup.h"
#include "phi/infermeta/matmul.h"
#include "phi/infermeta/normalisation.h"
#include "phi/infermeta/optimizer.h"
#include "phi/infermeta/reduce.h"
#include "phi/infermeta/shape.h"
#include "phi/infermeta/swiglu.h"
