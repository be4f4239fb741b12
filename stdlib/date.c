// Dates in data files (ISO 8601), read in one pass from left to right without
// a locale or a time zone other than UTC:
//
//   2024-05-31                   midnight
//   2024-05-31 12:00             a blank or T before the time
//   2024-05-31T12:00:00.25Z      six digits of the fraction count

#include "stdlib/date.h"
#include "vm/number.h"

// The days from 1970-01-01 on. Hinnant, "chrono-compatible low-level date
// algorithms": years begin in March, so that the leap day comes last, and eras
// of 400 years have one length.
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  int64_t era = (year >= 0 ? year : year - 399) / 400;
  int64_t of_era = year - era * 400;
  int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
         719468;
}

// The days of a month.
static int64_t days_in(int64_t year, int64_t month) {
  if (month == 2)
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Goes past [count] digits; whether there are so many and their value is at
// most [most].
static bool digits(const char **at, const char *end, int count, int64_t most,
                   int64_t *out) {
  *out = 0;
  for (; count > 0; count--, ++*at) {
    if (*at == end || **at < '0' || **at > '9')
      return false;
    *out = *out * 10 + (**at - '0');
  }
  return *out <= most;
}

// :SS and a fraction, of which six digits count; 0 where they are absent. *out
// is in microseconds.
static bool seconds(const char **at, const char *end, int64_t *out) {
  int64_t whole, part = 0, unit = 100000;
  if (!tl_accept(at, end, ':')) {
    *out = 0;
    return true;
  }
  if (!digits(at, end, 2, 59, &whole))
    return false;
  if (tl_accept(at, end, '.')) {
    const char *start = *at;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at, unit /= 10)
      part += (**at - '0') * unit;
    if (*at == start)
      return false;
  }
  *out = whole * 1000000 + part;
  return true;
}

// Date, then an end, or T or a blank and the time; a trailing Z is accepted,
// other zones are not.
bool tl_date_read(const char *text, size_t nbytes, int64_t *microseconds) {
  const char *at = text, *end = text + nbytes;
  while (at < end && *at == ' ') at++;
  while (end > at && end[-1] == ' ') end--;
  int64_t year, month, day, hour, minute, rest;
  if (!digits(&at, end, 4, 9999, &year) || !tl_accept(&at, end, '-') ||
      !digits(&at, end, 2, 12, &month) || month < 1 ||
      !tl_accept(&at, end, '-') ||
      !digits(&at, end, 2, days_in(year, month), &day) || day < 1)
    return false;
  *microseconds = days_of(year, month, day) * INT64_C(86400000000);
  if (at == end)
    return true;
  if ((!tl_accept(&at, end, 'T') && !tl_accept(&at, end, ' ')) ||
      !digits(&at, end, 2, 23, &hour) || !tl_accept(&at, end, ':') ||
      !digits(&at, end, 2, 59, &minute) || !seconds(&at, end, &rest))
    return false;
  tl_accept(&at, end, 'Z');
  *microseconds += (hour * 60 + minute) * INT64_C(60000000) + rest;
  return at == end;
}
