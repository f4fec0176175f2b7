// Picks the kernels for this processor, once.
#include <cstdlib>
#include <cstring>

#include "kernel/kernels.hpp"

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

namespace {

// SURTREE_KERNELS names an instruction set, for tests and comparisons; the best one is the default.
FindKernels* pick() {
#ifdef SURTREE_X86
    const char* wanted = std::getenv("SURTREE_KERNELS");
    const auto allowed = [&](const char* name) { return !wanted || std::strcmp(wanted, name) == 0; };
    if (allowed("avx512") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return avx512::find_kernels;
    if (allowed("avx2") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return avx2::find_kernels;
#endif
    return portable::find_kernels;
}

}  // namespace

const Kernels* find_kernels(const char* objective) {
    static FindKernels* const chosen = pick();
    return chosen(objective);
}

}  // namespace surtree
