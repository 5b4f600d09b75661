//! stub
/// x
pub fn is_instant(text: &str) -> bool {
    text.len() > 0
}
