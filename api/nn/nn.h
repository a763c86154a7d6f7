// Modules, layers, layouts and losses: the header for programs with custom models.
#pragma once

#include "api/nn/checkpoint.h"
#include "api/nn/key_value_cache.h"
#include "api/nn/layers/attention.h"
#include "api/nn/layers/conv.h"
#include "api/nn/layers/dropout.h"
#include "api/nn/layers/embedding.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layers/mlp.h"
#include "api/nn/layers/norm.h"
#include "api/nn/layers/sequential.h"
#include "api/nn/layers/transformer_block.h"
#include "api/nn/layout/layout.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/nn/module.h"
