// Checks of values that users give.
#pragma once

namespace remy_plus {

// Throws std::invalid_argument "`field` must be `rule`, got `value`" unless it holds.
void require(bool holds, const char* field, const char* rule, double value);

}  // namespace remy_plus
