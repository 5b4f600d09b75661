//! Forms of values, one bit each.

use crate::definitions::Storage;

pub(super) const NULL: u16 = 1;
pub(super) const BOOL: u16 = 1 << 1;
/// A number so short that no limit can matter.
pub(super) const NUMBER: u16 = 1 << 2;
/// A long number, or one with an exponent.
pub(super) const ODD_NUMBER: u16 = 1 << 3;
pub(super) const EMPTY_STRING: u16 = 1 << 4;
pub(super) const STRING: u16 = 1 << 5;
pub(super) const EMPTY_LIST: u16 = 1 << 6;
pub(super) const LIST: u16 = 1 << 7;
pub(super) const OBJECT: u16 = 1 << 8;
/// A list or object with an odd number somewhere inside.
pub(super) const ODD: u16 = 1 << 9;

/// A string with a backslash; is next to the other bits and says nothing about storing.
pub(super) const ESCAPED: u16 = 1 << 10;

pub(super) const ALL: u16 = u16::MAX;
/// What `required` is not met by.
pub(super) const EMPTY: u16 = NULL | EMPTY_STRING | EMPTY_LIST;
pub(super) const ANY_LIST: u16 = EMPTY_LIST | LIST;

/// Forms of which every value can be stored: values of the others are checked one by one.
pub(super) fn surely_storable(storage: Storage) -> u16 {
    let own = match storage {
        Storage::String => STRING,
        Storage::Number => NUMBER,
        Storage::Boolean => BOOL,
        Storage::Link => STRING | NUMBER | EMPTY_LIST,
        Storage::Any => BOOL | NUMBER | STRING | EMPTY_LIST | LIST | OBJECT,
        Storage::Date
        | Storage::Datetime
        | Storage::Option
        | Storage::Options
        | Storage::Masked
        | Storage::None => 0,
    };
    own | NULL | EMPTY_STRING | ESCAPED
}
