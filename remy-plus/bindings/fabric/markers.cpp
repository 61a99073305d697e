#include "markers.hpp"

#include "named.hpp"

namespace remy_plus::bindings {

using namespace fabric;

namespace {

Step::Parameters step_from(Named& named) {
  Step::Parameters p;
  named.take("k_bytes", p.threshold);
  double bdps = 0;
  named.take("k_bdps", bdps);
  return bdps == 0 ? p : Step::Parameters{bdps, true};
}

Red::Parameters red_from(Named& named) {
  Red::Parameters p;
  named.take("kmin_bytes", p.kmin);
  named.take("kmax_bytes", p.kmax);
  named.take("pmax", p.pmax);
  double low = 0, high = 0;  // bandwidth-delay products
  named.take("kmin_bdps", low);
  named.take("kmax_bdps", high);
  return low == 0 && high == 0 ? p : Red::Parameters{low, high, p.pmax, true};
}

EcnSharp::Parameters ecn_sharp_from(Named& named) {
  EcnSharp::Parameters p;
  named.take("instant_us", p.instant, us);
  named.take("target_us", p.target, us);
  named.take("interval_us", p.interval, us);
  return p;
}

Codel::Parameters codel_from(Named& named) {
  Codel::Parameters p;
  named.take("target_us", p.target, us);
  named.take("interval_us", p.interval, us);
  return p;
}

Pie::Parameters pie_from(Named& named) {
  Pie::Parameters p;
  named.take("target_us", p.target, us);
  named.take("update_us", p.update, us);
  named.take("burst_us", p.burst, us);
  named.take("alpha_per_ms", p.alpha, per_ms);
  named.take("beta_per_ms", p.beta, per_ms);
  return p;
}

Pred::Parameters pred_from(Named& named) {
  Pred::Parameters p;
  named.take("fcs", p.counts);
  named.take("qla", p.adjusts);
  named.take("kmax_bytes", p.kmax);
  named.take("count_us", p.counter.interval, us);
  named.take("count_bits", p.counter.bits);
  named.take("adjust_us", p.adjuster.interval, us);
  named.take("slope_per_mb", p.adjuster.slope, per_mb);
  named.take("slope_step_per_mb", p.adjuster.slope_step, per_mb);
  named.take("least_slope_per_mb", p.adjuster.least_slope, per_mb);
  named.take("kmin_bytes", p.adjuster.kmin);
  named.take("kmin_step_bytes", p.adjuster.kmin_step);
  named.take("share", p.adjuster.share);
  named.take("good_queue_bytes", p.adjuster.good_queue);
  named.take("bad_queue_bytes", p.adjuster.bad_queue);
  return p;
}

MarkerParameters of_kind(const std::string& kind, Named& named) {
  if (kind == "step") return step_from(named);
  if (kind == "red") return red_from(named);
  if (kind == "ecn-sharp") return ecn_sharp_from(named);
  if (kind == "codel") return codel_from(named);
  if (kind == "pie") return pie_from(named);
  if (kind == "pred") return pred_from(named);
  throw std::invalid_argument("marker " + kind + " is not known");
}

}  // namespace

MarkerParameters marker_from(const std::string& kind, const nb::dict& parameters) {
  Named named(parameters, "marker " + kind);
  const MarkerParameters made = of_kind(kind, named);
  named.end();
  return made;
}

}  // namespace remy_plus::bindings
