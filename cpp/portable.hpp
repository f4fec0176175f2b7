// Differences between compilers: GCC and Clang (also as clang-cl) have extensions, others do without.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define SURTREE_GNU
#define SURTREE_NOINLINE __attribute__((noinline))
// For names of what a compiler has anyway: what is inlined around them is as if they were not there.
#define SURTREE_INLINE inline __attribute__((always_inline))
#else
#define SURTREE_NOINLINE __declspec(noinline)
#define SURTREE_INLINE __forceinline
#if defined(_M_X64) || defined(_M_IX86)
#include <xmmintrin.h>
#endif
#endif

namespace surtree {

// A flag that one thread raises while others poll it. A plain bool, since kernels do without the standard
// library (kernel/simd.hpp); static, since each instruction set compiles its own.
static SURTREE_INLINE bool is_raised(const bool* flag) {
#ifdef SURTREE_GNU
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
#else
    return *static_cast<const volatile bool*>(flag);  // of one byte, which Microsoft's compiler reads at once
#endif
}

static SURTREE_INLINE void raise_flag(bool* flag) {
#ifdef SURTREE_GNU
    __atomic_store_n(flag, true, __ATOMIC_RELAXED);
#else
    *static_cast<volatile bool*>(flag) = true;
#endif
}

// Asks for memory that is read soon; may do nothing.
static SURTREE_INLINE void prefetch_memory([[maybe_unused]] const void* address) {
#ifdef SURTREE_GNU
    __builtin_prefetch(address);
#elif defined(_M_X64) || defined(_M_IX86)
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0);
#endif
}

}  // namespace surtree
