#ifndef PAGE_H
#define PAGE_H

/// A file of the page.
struct page_file {
    const char *name;
    const unsigned char *bytes;
    unsigned long count;
};

/// The files of the page, which end with one whose name is a null pointer.
const struct page_file *page_files(void);

#endif
