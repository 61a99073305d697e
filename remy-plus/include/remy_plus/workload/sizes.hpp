// Flow sizes as a table of the cumulative distribution, in packets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace remy_plus {

class SizeTable {
 public:
  // `packets` and `cumulative` rise together from cumulative 0 to 1; between two points the size is interpolated.
  SizeTable(std::vector<double> packets, std::vector<double> cumulative)
      : packets_(std::move(packets)), cumulative_(std::move(cumulative)) {
    if (packets_.size() != cumulative_.size() || packets_.size() < 2)
      throw std::invalid_argument("a table of sizes needs two or more points, as many sizes as probabilities");
    if (cumulative_.front() != 0 || cumulative_.back() != 1)
      throw std::invalid_argument("a table of sizes must begin at probability 0 and end at 1");
    for (std::size_t i = 1; i < packets_.size(); ++i)
      if (!(cumulative_[i] >= cumulative_[i - 1]) || !(packets_[i] >= packets_[i - 1]) || packets_[i] > 1e12)
        throw std::invalid_argument("sizes and probabilities must not fall, nor sizes pass 1e12 packets");
    if (!(packets_.front() >= 0)) throw std::invalid_argument("sizes must be >= 0");
  }

  // The size of a flow, rounded up to whole packets, at the quantile `u` in (0, 1].
  std::uint64_t draw(double u) const {
    const auto above = std::lower_bound(cumulative_.begin() + 1, cumulative_.end(), u);
    const auto i = static_cast<std::size_t>(above - cumulative_.begin());
    const double step = cumulative_[i] - cumulative_[i - 1];
    const double share = step > 0 ? (u - cumulative_[i - 1]) / step : 1;
    const double size = packets_[i - 1] + share * (packets_[i] - packets_[i - 1]);
    auto whole = static_cast<std::uint64_t>(size);
    whole += static_cast<double>(whole) < size;
    return std::max<std::uint64_t>(whole, 1);
  }

 private:
  std::vector<double> packets_;
  std::vector<double> cumulative_;
};

}  // namespace remy_plus
