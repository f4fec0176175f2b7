// Which instruction sets this processor has, and the operating system lets programs use.
#pragma once

#include "portable.hpp"

#if defined(_MSC_VER)  // also of clang-cl, whose own test needs a library that Windows has not
#include <immintrin.h>
#include <intrin.h>
#endif

namespace surtree {

#if defined(_MSC_VER)

struct Processor {
    bool avx2 = false, avx512 = false;

    Processor() {
        int basic[4], extended[4];
        __cpuid(basic, 0);
        if (basic[0] < 7) return;
        __cpuid(basic, 1);
        __cpuidex(extended, 7, 0);
        const auto has = [](int word, int bit) { return ((word >> bit) & 1) != 0; };
        if (!has(basic[2], 27)) return;  // no way to ask which registers are saved
        const unsigned long long saved = _xgetbv(0);
        const bool saves_ymm = (saved & 0x06) == 0x06, saves_zmm = (saved & 0xe6) == 0xe6;
        avx2 = saves_ymm && has(basic[2], 12) && has(extended[1], 5);  // FMA and AVX2
        avx512 = saves_zmm && has(extended[1], 16) && has(extended[1], 17) && has(extended[1], 31);
    }
};

#else

struct Processor {
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
};

#endif

}  // namespace surtree
