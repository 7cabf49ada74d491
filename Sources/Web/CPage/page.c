// Compiles the files of the page into the program. Swift would compile an array with their bytes in half a minute.

#include "page.h"

#include <stddef.h>

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../Web/Page/index.html"
};
static const unsigned char style_css[] = {
#embed "../Web/Page/style.css"
};
static const unsigned char icon_svg[] = {
#embed "../Web/Page/icon.svg"
};
static const unsigned char app_js[] = {
#embed "../Web/Page/app.js"
};
static const unsigned char connection_js[] = {
#embed "../Web/Page/connection.js"
};
static const unsigned char hub_js[] = {
#embed "../Web/Page/hub.js"
};
static const unsigned char shared_js[] = {
#embed "../Web/Page/shared.js"
};
static const unsigned char model_js[] = {
#embed "../Web/Page/model.js"
};
static const unsigned char values_js[] = {
#embed "../Web/Page/values.js"
};
static const unsigned char elements_js[] = {
#embed "../Web/Page/elements.js"
};
static const unsigned char drawings_js[] = {
#embed "../Web/Page/drawings.js"
};
static const unsigned char result_js[] = {
#embed "../Web/Page/result.js"
};
static const unsigned char stays_js[] = {
#embed "../Web/Page/stays.js"
};
static const unsigned char strip_js[] = {
#embed "../Web/Page/strip.js"
};
static const unsigned char tags_js[] = {
#embed "../Web/Page/tags.js"
};
static const unsigned char cards_js[] = {
#embed "../Web/Page/cards.js"
};
static const unsigned char table_js[] = {
#embed "../Web/Page/table.js"
};
static const unsigned char tag_js[] = {
#embed "../Web/Page/tag.js"
};
static const unsigned char gaps_js[] = {
#embed "../Web/Page/gaps.js"
};
static const unsigned char levels_js[] = {
#embed "../Web/Page/levels.js"
};
static const unsigned char chart_js[] = {
#embed "../Web/Page/chart.js"
};
static const unsigned char pair_js[] = {
#embed "../Web/Page/pair.js"
};
static const unsigned char why_js[] = {
#embed "../Web/Page/why.js"
};
static const unsigned char findings_js[] = {
#embed "../Web/Page/findings.js"
};
static const unsigned char events_js[] = {
#embed "../Web/Page/events.js"
};
static const unsigned char days_js[] = {
#embed "../Web/Page/days.js"
};
static const unsigned char log_js[] = {
#embed "../Web/Page/log.js"
};
static const unsigned char fleet_js[] = {
#embed "../Web/Page/fleet.js"
};
static const unsigned char sessions_js[] = {
#embed "../Web/Page/sessions.js"
};

static const struct page_file files[] = {
    {"index.html", index_html, sizeof index_html},
    {"style.css", style_css, sizeof style_css},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"app.js", app_js, sizeof app_js},
    {"connection.js", connection_js, sizeof connection_js},
    {"hub.js", hub_js, sizeof hub_js},
    {"shared.js", shared_js, sizeof shared_js},
    {"model.js", model_js, sizeof model_js},
    {"values.js", values_js, sizeof values_js},
    {"elements.js", elements_js, sizeof elements_js},
    {"drawings.js", drawings_js, sizeof drawings_js},
    {"result.js", result_js, sizeof result_js},
    {"stays.js", stays_js, sizeof stays_js},
    {"strip.js", strip_js, sizeof strip_js},
    {"tags.js", tags_js, sizeof tags_js},
    {"cards.js", cards_js, sizeof cards_js},
    {"table.js", table_js, sizeof table_js},
    {"tag.js", tag_js, sizeof tag_js},
    {"gaps.js", gaps_js, sizeof gaps_js},
    {"levels.js", levels_js, sizeof levels_js},
    {"chart.js", chart_js, sizeof chart_js},
    {"pair.js", pair_js, sizeof pair_js},
    {"why.js", why_js, sizeof why_js},
    {"findings.js", findings_js, sizeof findings_js},
    {"events.js", events_js, sizeof events_js},
    {"days.js", days_js, sizeof days_js},
    {"log.js", log_js, sizeof log_js},
    {"fleet.js", fleet_js, sizeof fleet_js},
    {"sessions.js", sessions_js, sizeof sessions_js},
    {NULL, NULL, 0},
};

const struct page_file *page_files(void) { return files; }
