// Puts values into the engine, and reads them back as a storage's source.
#include "api/capture/execution/swap_parameter.h"

#include <utility>
#include <vector>

#include "phi/core/box_copy.h"
#include "phi/core/device/device.h"
#include "phi/core/storage/source_bytes.h"

namespace phi {
namespace {

// The source of a tensor whose value the engine stores; read if the tensor is read between runs.
class EngineSource final : public Storage::Source {
 public:
  EngineSource(const TensorMeta& meta, std::shared_ptr<memory::SwapEngine> engine,
               memory::SwapBufferId buffer)
      : meta_(meta), engine_(std::move(engine)), buffer_(buffer) {}
  const TensorMeta& meta() const override { return meta_; }
  StorageState state() const override { return StorageState::kSwapped; }
  void read(const Box& box, DenseTensor* out) const override {
    std::vector<std::byte> whole(meta_.nbytes());
    engine_->get(buffer_, whole);
    copy_box(whole.data(), Box::whole(meta_.dims), out->mutable_raw_data(), box, box,
             size_of(meta_.dtype));
  }
  bool is_of(const memory::SwapEngine& engine) const { return engine_.get() == &engine; }

 private:
  TensorMeta meta_;
  std::shared_ptr<memory::SwapEngine> engine_;
  memory::SwapBufferId buffer_;
};

bool is_kept_by(const Storage::Source* source, const memory::SwapEngine& engine) {
  const auto* own = dynamic_cast<const EngineSource*>(source);
  return own && own->is_of(engine);
}

void put_source(const Storage::Source& source, memory::SwapBufferId buffer,
                memory::SwapEngine& engine) {
  engine.put(buffer, [&](int64_t offset, std::span<std::byte> out) {
    read_bytes(source, static_cast<size_t>(offset), out);
  });
}

void put_bytes(const Storage& storage, memory::SwapBufferId buffer, memory::SwapEngine& engine) {
  engine.put(buffer, [&](int64_t offset, std::span<std::byte> out) {
    copy_bytes(out.data(), CPUPlace(), storage.data() + offset, storage.place(), out.size());
  });
}

TensorMeta meta_of(const ExternalState& external, const Storage& storage) {
  if (external.handle.defined()) return array_of(external.handle).meta();
  return {{static_cast<int64_t>(storage.nbytes())}, DataType::UINT8};
}

}  // namespace

void swap_parameter(const BufferState& buffer, ExternalState& external,
                    const std::shared_ptr<memory::SwapEngine>& engine) {
  if (external.initial) return put_source(*external.initial, buffer.planned, *engine);
  const IntrusivePtr<Storage> storage =
      external.handle.defined() ? array_of(external.handle).storage() : buffer.external;
  const auto source = storage->source();
  if (is_kept_by(source.get(), *engine)) return;
  const TensorMeta meta = meta_of(external, *storage);
  if (storage->has_bytes()) {
    const bool has_it = storage == buffer.external && external.version == storage->version() + 1;
    if (!has_it) put_bytes(*storage, buffer.planned, *engine);
  } else {
    put_source(*source, buffer.planned, *engine);
  }
  external.version = storage->version() + 1;
  storage->swap_out(std::make_shared<const EngineSource>(meta, engine, buffer.planned));
}

}  // namespace phi
