// Picks the kernels for this processor, once.
#include <cstdlib>
#include <cstring>

#include "kernel/kernels.hpp"

namespace surtree {

namespace portable {
extern const Kernels table;
}
#ifdef SURTREE_X86
namespace avx2 {
extern const Kernels table;
}
namespace avx512 {
extern const Kernels table;
}
#endif

namespace {

const Kernels& pick() {
#ifdef SURTREE_X86
    // For tests and for comparisons: the name of a set that the processor may well surpass.
    const char* wanted = std::getenv("SURTREE_KERNELS");
    const auto allowed = [&](const char* name) { return !wanted || std::strcmp(wanted, name) == 0; };
    if (allowed("avx512") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return avx512::table;
    if (allowed("avx2") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return avx2::table;
#endif
    return portable::table;
}

}  // namespace

const Kernels& kernels() {
    static const Kernels& chosen = pick();
    return chosen;
}

}  // namespace surtree
