// TensorFlow's own BFCAllocator (xla/tsl/framework/bfc_allocator.h) behind a few C functions, for ctypes.
//
// The region that it divides has a made-up address: the allocator keeps books and never touches what it gives away.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "xla/tsl/framework/bfc_allocator.h"

namespace {

constexpr uintptr_t kBase = uintptr_t{1} << 40;

class MadeUpMemory : public tsl::SubAllocator {
 public:
  MadeUpMemory() : SubAllocator({}, {}) {}
  void* Alloc(size_t alignment, size_t num_bytes, size_t* bytes_received) override {
    *bytes_received = num_bytes;
    return reinterpret_cast<void*>(kBase);
  }
  void Free(void* ptr, size_t num_bytes) override {}
  bool SupportsCoalescing() const override { return false; }
};

tsl::BFCAllocator* Get(void* allocator) { return static_cast<tsl::BFCAllocator*>(allocator); }

void* Address(int64_t offset) { return reinterpret_cast<void*>(kBase + static_cast<uintptr_t>(offset)); }

}  // namespace

extern "C" {

void bfc_delete(void* allocator) { delete Get(allocator); }

void* bfc_new(int64_t bytes) {
  tsl::BFCAllocator::Options options;
  options.allow_growth = false;
  options.allow_retry_on_failure = false;
  return new tsl::BFCAllocator(std::make_unique<MadeUpMemory>(), static_cast<size_t>(bytes), "oracle", options);
}

// The offset of a chunk of at least `bytes`, or -1.
int64_t bfc_allocate(void* allocator, int64_t bytes) {
  tsl::AllocationAttributes once(/*retry_on_failure=*/false, /*allocation_will_be_logged=*/false, nullptr);
  void* at = Get(allocator)->AllocateRaw(64, static_cast<size_t>(bytes), once);
  return at == nullptr ? -1 : static_cast<int64_t>(reinterpret_cast<uintptr_t>(at) - kBase);
}

int64_t bfc_size(void* allocator, int64_t offset) {
  return static_cast<int64_t>(Get(allocator)->AllocatedSize(Address(offset)));
}

void bfc_free(void* allocator, int64_t offset) { Get(allocator)->DeallocateRaw(Address(offset)); }

int64_t bfc_in_use(void* allocator) { return Get(allocator)->GetStats()->bytes_in_use; }

}  // extern "C"
