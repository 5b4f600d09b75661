//! The package of a job as it was when the job was created, and the decisions about it.

use std::io::{self, Write as _};
use std::ops::RangeFrom;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tplkit::apply::{Minter, Request, Resolutions};
use tplkit::upgrade::SeenLeaves;
use uuid::Uuid;

use crate::ids::JobKey;
use crate::spool::{Spool, SpooledText};
use crate::store::{StoreError, Tx};

/// A part of a package, packed (LZ4, with its length before it): a job keeps all of it for ever, and who
/// asked for the job waits until it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedPart(Vec<u8>);

impl PackedPart {
    /// Packs JSON text.
    pub fn pack(text: &str) -> PackedPart {
        PackedPart(lz4_flex::compress_prepend_size(text.as_bytes()))
    }

    pub(super) fn packed(&self) -> &[u8] {
        &self.0
    }

    /// The text again.
    ///
    /// # Errors
    /// When it is none.
    pub fn unpack(&self) -> Result<String, StoreError> {
        let bad = |why: String| StoreError::Internal(format!("the package of a job: {why}"));
        let length = lz4_flex::block::uncompressed_size(&self.0);
        let (length, packed) = length.map_err(|error| bad(error.to_string()))?;
        let bytes = lz4_flex::decompress(packed, length);
        let bytes = bytes.map_err(|error| bad(error.to_string()))?;
        if bytes.len() != length {
            return Err(bad(format!("{} of {length} bytes are there", bytes.len())));
        }
        String::from_utf8(bytes).map_err(|error| bad(error.to_string()))
    }
}

/// How a package is to be applied, as it is kept with the job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRequest {
    /// What somebody decided.
    pub request: Request,
    /// What earlier jobs of the line decided about dependencies that have other refs in this package.
    pub inherited: Resolutions,
    /// Where the ids come from.
    pub minter: Minter,
}

#[derive(Serialize, Deserialize)]
struct KeptRequest {
    request: Box<RawValue>,
    minter: Minter,
    /// What the plan saw; nothing for jobs other than upgrades, and for older ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    planned: Option<SeenLeaves>,
    /// A request with nothing but resolutions; nothing where there are none, and for older jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inherited: Option<Box<RawValue>>,
}

impl JobRequest {
    /// The text that is kept.
    pub(super) fn write(&self) -> String {
        let raw = |request: &Request| RawValue::from_string(request.to_value().write());
        let inherited = (!self.inherited.is_empty()).then(|| Request {
            resolutions: self.inherited.clone(),
            ..Request::default()
        });
        // What the library writes is JSON.
        let kept = raw(&self.request).and_then(|request| {
            serde_json::to_string(&KeptRequest {
                request,
                minter: self.minter,
                planned: self.request.terms.planned.clone(),
                inherited: inherited.as_ref().map(raw).transpose()?,
            })
        });
        kept.unwrap_or_default()
    }

    /// Reads it again.
    ///
    /// # Errors
    /// When it is something else.
    pub fn read(text: &str) -> Result<JobRequest, StoreError> {
        let bad = |why: String| StoreError::Internal(format!("the request of a job: {why}"));
        let kept: KeptRequest =
            serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        let read = |text: &RawValue| {
            let request = Request::from_json(text.get());
            request.map_err(|refusals| bad(format!("{refusals:?}")))
        };
        let mut request = read(&kept.request)?;
        request.terms.planned = kept.planned;
        let inherited = kept.inherited.as_deref().map(read).transpose()?;
        Ok(JobRequest {
            request,
            inherited: inherited.map(|given| given.resolutions).unwrap_or_default(),
            minter: kept.minter,
        })
    }

    /// What became of dependencies, for later jobs of the line to start from: what somebody decided, and what was
    /// decided before under other refs.
    pub(super) fn resolutions(&self) -> Resolutions {
        let mut resolutions = self.inherited.clone();
        resolutions.extend(self.request.resolutions.clone());
        resolutions
    }
}

/// The numbers of the parts of a package.
pub(super) const PACKAGE: RangeFrom<i64> = 0..;

/// The numbers of the parts of the package that a workspace was set up by.
pub(super) fn base_numbers() -> impl Iterator<Item = i64> + Send {
    (1..).map(|number: i64| -number)
}

/// The request of a job and its package, with its rows or without, put together as one text; nothing when there
/// is no such job. A large text is not in memory but in a file that nobody else sees.
///
/// # Errors
/// Those of the store, and when there is no room for a file.
pub async fn read(
    tx: &mut Tx,
    organization: Uuid,
    job: Uuid,
    rows: bool,
) -> Result<Option<(JobRequest, SpooledText)>, StoreError> {
    let mut spool = Spool::default();
    let key = JobKey { organization, job };
    let most = if rows { usize::MAX } else { 1 };
    let numbers = PACKAGE.take(most);
    parts(tx, key, numbers, &mut spool).await?;
    // Behind its parts, which go with it: of a job that is still there, none was missing.
    let Some(job_request) = job_request(tx, key).await? else {
        return Ok(None);
    };
    let text = spool.into_text().map_err(|error| disk_full(&error))?;
    Ok(Some((job_request, text)))
}

/// The package that a workspace was set up by, where a job has it.
///
/// # Errors
/// Those of the store, and when there is no room for a file.
pub async fn read_base(
    tx: &mut Tx,
    organization: Uuid,
    job: Uuid,
) -> Result<Option<SpooledText>, StoreError> {
    let mut spool = Spool::default();
    let key = JobKey { organization, job };
    if parts(tx, key, base_numbers(), &mut spool).await? == 0 {
        return Ok(None);
    }
    let text = spool.into_text().map_err(|error| disk_full(&error))?;
    Ok(Some(text))
}

fn disk_full(error: &io::Error) -> StoreError {
    StoreError::Unavailable(format!("a temporary file of a package: {error}"))
}

/// The request of a job; nothing when there is no such job.
async fn job_request(tx: &mut Tx, key: JobKey) -> Result<Option<JobRequest>, StoreError> {
    let sql = "SELECT request FROM template_jobs WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND id = $2";
    let parameters = [key.organization.into(), key.job.into()];
    let Some(row) = tx.first(sql, &parameters).await? else {
        return Ok(None);
    };
    let job_request: String = row.get(0)?;
    JobRequest::read(&job_request).map(Some)
}

/// Puts parts of a package together: the manifest, then each entry of rows. Gives how many there are.
async fn parts(
    tx: &mut Tx,
    key: JobKey,
    numbers: impl Iterator<Item = i64> + Send,
    spool: &mut Spool,
) -> Result<usize, StoreError> {
    let mut put = |part: &str| {
        spool
            .write_all(part.as_bytes())
            .map_err(|error| disk_full(&error))
    };
    let sql = "SELECT content FROM template_job_parts WHERE {tenant organization_id} \
         AND {workspace workspace_id} AND organization_id = $1 AND job_id = $2 AND number = $3";
    put("{\"manifest\":")?;
    let mut count = 0;
    // One part at a time: together they may be large, and are held once.
    for number in numbers {
        let part = [key.organization.into(), key.job.into(), number.into()];
        let Some(row) = tx.first(sql, &part).await? else {
            break;
        };
        match count {
            0 => {}
            1 => put(",\"payloads\":[")?,
            _ => put(",")?,
        }
        put(&PackedPart(row.get(0)?).unpack()?)?;
        count += 1;
    }
    put(if count > 1 { "]}" } else { "}" })?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::PackedPart;

    #[test]
    fn a_part_is_read_as_it_was_written() {
        for text in ["", "{}", &"{\"é\":[1,2,3]},".repeat(10_000)] {
            let part = PackedPart::pack(text);
            assert_eq!(part.unpack().as_deref(), Ok(text));
        }
        assert!(PackedPart::pack(&"[1,2],".repeat(1_000)).packed().len() < 100);
    }

    #[test]
    fn what_was_not_packed_is_an_error() {
        for bytes in [&b""[..], b"{}", b"\x09\0\0\0\x10a"] {
            PackedPart(bytes.to_vec())
                .unpack()
                .expect_err("is not a part");
        }
        let no_text = lz4_flex::compress_prepend_size(&[0xFF]);
        PackedPart(no_text).unpack().expect_err("is not text");
    }
}
