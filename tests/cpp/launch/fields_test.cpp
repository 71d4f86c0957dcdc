#include "gasmeter/launch/fields.hpp"

#include <doctest/doctest.h>

#include "gasmeter/base/error.hpp"

namespace gasmeter::launch::fields_test {
namespace {

TEST_CASE("fields_survive_text_and_back") {
  const Fields fields{{"verb", "open"}, {"option.note", "a=b, c"}, {"empty", ""}};
  CHECK(fields.text() == "verb=open\noption.note=a=b, c\nempty=\n");
  const Fields parsed = Fields::parse(fields.text());
  CHECK(parsed.at("option.note") == "a=b, c");
  CHECK(parsed.at("empty").empty());
  CHECK_FALSE(parsed.find("verb2"));
}

TEST_CASE("line_break_in_value_becomes_blank") {
  CHECK(Fields{{"message", "two\nlines"}}.text() == "message=two lines\n");
}

TEST_CASE("last_line_may_lack_its_line_break") {
  CHECK(Fields::parse("a=1\n\nb=2").at("b") == "2");
}

TEST_CASE("bad_fields_are_usage_errors") {
  CHECK_THROWS_WITH_AS(static_cast<void>(Fields::parse("verb=x\nnonsense\n")),
                       "command line `nonsense` is not key=value", UsageError);
  CHECK_THROWS_AS(static_cast<void>(Fields::parse("=x")), UsageError);
  CHECK_THROWS_AS(Fields{}.add("a=b", "c"), UsageError);
  CHECK_THROWS_WITH_AS(static_cast<void>(Fields{}.at("seed")), "field `seed` is missing", UsageError);
  CHECK_THROWS_AS(static_cast<void>(Fields{{"n", "-1"}}.number("n")), UsageError);
  CHECK_THROWS_AS(static_cast<void>(Fields{{"n", "12x"}}.number("n")), UsageError);
  CHECK(Fields{{"n", "18446744073709551615"}}.number("n") == 18446744073709551615U);
}

}  // namespace
}  // namespace gasmeter::launch::fields_test
