//! stub
use super::finding::Place;
/// x
#[derive(Default)]
pub struct RowsOutcome {
    /// x
    pub tenant_places: Vec<(Place, String)>,
    /// x
    pub without_payload: Vec<(Place, String)>,
    /// x
    pub count_mismatches: Vec<(Place, String)>,
    /// x
    pub orphans: Vec<(Place, String)>,
}
