// Picks the kernels for this processor, once.
#include <cstdlib>
#include <cstring>

#include "kernel/kernels.hpp"
#if defined(SURTREE_HAS_avx2) || defined(SURTREE_HAS_avx512)
#include "kernel/processor.hpp"
#endif

namespace surtree {

using FindKernels = const Kernels*(const char* objective);

namespace portable {
FindKernels find_kernels;
}
namespace avx2 {
FindKernels find_kernels;
}
namespace avx512 {
FindKernels find_kernels;
}
namespace plain {
FindKernels find_kernels;
}

namespace {

// SURTREE_KERNELS names an instruction set, for tests and comparisons; the best one is the default.
FindKernels* pick() {
    const char* const wanted = std::getenv("SURTREE_KERNELS");
    [[maybe_unused]] const auto is_wanted = [&](const char* name) {
        return wanted && std::strcmp(wanted, name) == 0;
    };
#ifdef SURTREE_HAS_plain
    if (is_wanted("plain")) return plain::find_kernels;
#endif
#ifdef SURTREE_HAS_avx512
    if ((!wanted || is_wanted("avx512")) && Processor().avx512) return avx512::find_kernels;
#endif
#ifdef SURTREE_HAS_avx2
    if ((!wanted || is_wanted("avx2")) && Processor().avx2) return avx2::find_kernels;
#endif
    return portable::find_kernels;
}

}  // namespace

const Kernels* find_kernels(const char* objective) {
    static FindKernels* const chosen = pick();
    return chosen(objective);
}

}  // namespace surtree
