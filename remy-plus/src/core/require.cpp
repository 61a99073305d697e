#include "remy_plus/core/require.hpp"

#include <sstream>
#include <stdexcept>

namespace remy_plus {

void require(bool holds, const char* field, const char* rule, double value) {
  if (holds) return;
  std::ostringstream text;
  text << field << " must be " << rule << ", got " << value;
  throw std::invalid_argument(text.str());
}

}  // namespace remy_plus
