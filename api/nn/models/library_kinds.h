// The kinds of models of this library. To add one, declare its row here and list it in
// model_kind.cc.
#pragma once

#include "api/nn/models/model_kind.h"

namespace phi::nn::models {

ModelKind gpt_kind();
ModelKind llama_kind();
ModelKind resnet_kind();
ModelKind vit_kind();

}  // namespace phi::nn::models
