// Picks the kernels for this processor, once.
#include <cstdlib>
#include <cstring>

#include "kernel/kernels.hpp"
#ifdef SURTREE_X86
#include "kernel/processor.hpp"
#endif

namespace surtree {

using FindKernels = const Kernels*(const char* objective);

namespace portable {
FindKernels find_kernels;
}
#ifdef SURTREE_X86
namespace avx2 {
FindKernels find_kernels;
}
namespace avx512 {
FindKernels find_kernels;
}
#endif
#ifdef SURTREE_PLAIN_KERNELS
namespace plain {
FindKernels find_kernels;
}
#endif

namespace {

// SURTREE_KERNELS names an instruction set, for tests and comparisons; the best one is the default.
FindKernels* pick() {
    [[maybe_unused]] const char* wanted = std::getenv("SURTREE_KERNELS");
#ifdef SURTREE_PLAIN_KERNELS
    if (wanted && std::strcmp(wanted, "plain") == 0) return plain::find_kernels;
#endif
#ifdef SURTREE_X86
    const auto allowed = [&](const char* name) { return !wanted || std::strcmp(wanted, name) == 0; };
    const Processor processor;
    if (allowed("avx512") && processor.avx512) return avx512::find_kernels;
    if (allowed("avx2") && processor.avx2) return avx2::find_kernels;
#endif
    return portable::find_kernels;
}

}  // namespace

const Kernels* find_kernels(const char* objective) {
    static FindKernels* const chosen = pick();
    return chosen(objective);
}

}  // namespace surtree
