// Descriptions of models of any kind as JSON text, which is stored with their weights.
//
//   const std::string text = describe_model(kind, values);   // {"kind": "resnet", "blocks": [2, ..
//   description_differences(kind, values, text, "model.json", "model.json");   // none
//
// A Decoder is described by its config (config.h).
#pragma once

#include <string>
#include <string_view>

#include "api/nn/models/model_kind.h"
#include "distributed/checkpoint/checkpoint.h"

namespace phi::nn::models {

/// A JSON object with the kind and all keys, one per line.
std::string describe_model(const ModelKind& kind, const ModelValues& values);

/// Why a model cannot use the weights of the model that `text`, a description in the file `path`,
/// describes: a line with both values for each key; empty if it can. `where` names the description
/// in the lines. Dropout may differ; for decoders see differences().
/// Errors: InvalidArgument, naming `path`, for text that is no description.
std::string description_differences(const ModelKind& kind, const ModelValues& values,
                                    std::string_view text, const std::string& path,
                                    const std::string& where);

/// Calls nn::save(), and writes the description to kConfigFile and to the metadata, in addition to
/// the metadata of `options`. Ranks and errors: as checkpoint::save.
void save_described(const std::string& folder, const Module& model, const std::string& description,
                    distributed::checkpoint::SaveOptions options = {});

/// Opens a folder's weights without reading them, for a model of any kind. A folder without a
/// description is opened without comparison. Folders of Hugging Face are for decoders.
/// Errors: InvalidArgument that lists each key that differs, with both values; as
/// checkpoint::open and huggingface::open.
distributed::checkpoint::Checkpoint open_described(const std::string& folder, const ModelKind& kind,
                                                   const ModelValues& values);

}  // namespace phi::nn::models
