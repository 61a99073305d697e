// SPDX-License-Identifier: GPL-2.0-only
// ns-3's libraries are bound to the symbols of this module first, so that what is defined here in the name of ns-3
// takes the place of its own, which is the next of that name.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace lcca_ns3 {

// A member function of ns-3, called with the object as its first argument.
template <class Function>
Function of_ns3(const char* symbol) {
  if (void* found = dlsym(RTLD_NEXT, symbol)) return reinterpret_cast<Function>(found);
  std::fprintf(stderr, "ns-3 has no %s: lcca-ns3 was built for another version\n", symbol);
  std::abort();
}

}  // namespace lcca_ns3

#define LCCA_REPLACES __attribute__((visibility("default")))
