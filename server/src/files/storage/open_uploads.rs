//! Uploads in parts that a bucket holds for a process that is gone.

use super::{FileStorage, FileStorageError, StorageKind};

/// An upload in parts that nobody has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenUpload {
    /// The name that its object was to have.
    pub key: String,
    /// When it began, in microseconds since 1970.
    pub begun: i64,
    /// By which the bucket knows it.
    pub(super) id: String,
}

impl FileStorage {
    /// The uploads in parts that have begun and not ended. Only buckets have such.
    ///
    /// # Errors
    /// When the place is away.
    pub async fn open_uploads(&self) -> Result<Vec<OpenUpload>, FileStorageError> {
        match &self.kind {
            #[cfg(feature = "s3")]
            StorageKind::Bucket(bucket) => bucket.open_uploads().await,
            _ => Ok(Vec::new()),
        }
    }

    /// Gives up such an upload; it may be gone.
    ///
    /// # Errors
    /// When the place is away.
    pub async fn abort(&self, upload: &OpenUpload) -> Result<(), FileStorageError> {
        match &self.kind {
            #[cfg(feature = "s3")]
            StorageKind::Bucket(bucket) => match bucket.abort(&upload.key, &upload.id).await {
                Err(FileStorageError::Missing) => Ok(()),
                aborted => aborted,
            },
            _ => {
                let _ = upload;
                Ok(())
            }
        }
    }
}

/// A page of a list of open uploads, as buckets write it.
#[cfg(feature = "s3")]
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct UploadPage {
    pub(super) uploads: Vec<OpenUpload>,
    /// Key and id behind which the next page begins.
    pub(super) next: Option<[String; 2]>,
}

#[cfg(feature = "s3")]
impl UploadPage {
    /// Reads the document, which has no attributes and no nesting that could be mistaken.
    pub(super) fn read(document: &str) -> UploadPage {
        let mut uploads = document.split("<Upload>");
        let head = uploads.next().unwrap_or_default();
        let uploads = uploads.filter_map(|upload| {
            let begun: jiff::Timestamp = text(upload, "Initiated")?.parse().ok()?;
            Some(OpenUpload {
                key: text(upload, "Key")?,
                begun: begun.as_microsecond(),
                id: text(upload, "UploadId")?,
            })
        });
        let truncated = text(head, "IsTruncated").is_some_and(|text| text == "true");
        let next = || {
            Some([
                text(head, "NextKeyMarker")?,
                text(head, "NextUploadIdMarker")?,
            ])
        };
        UploadPage {
            uploads: uploads.collect(),
            next: truncated.then(next).flatten(),
        }
    }
}

/// What the first element of a name holds.
#[cfg(feature = "s3")]
fn text(document: &str, name: &str) -> Option<String> {
    let (_, rest) = document.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
    ];
    let text = entities
        .iter()
        .fold(text.to_owned(), |text, (entity, character)| {
            text.replace(entity, character)
        });
    Some(text.replace("&amp;", "&"))
}

#[cfg(all(test, feature = "s3"))]
mod tests {
    use super::{OpenUpload, UploadPage};

    #[test]
    fn a_list_of_open_uploads_is_read() {
        let page = UploadPage::read(
            "<?xml version=\"1.0\"?><ListMultipartUploadsResult><Bucket>b</Bucket>\
             <NextKeyMarker>a/uploads/2</NextKeyMarker><NextUploadIdMarker>x&amp;y</NextUploadIdMarker>\
             <IsTruncated>true</IsTruncated>\
             <Upload><Key>a/uploads/1</Key><UploadId>i-1</UploadId><Initiated>2026-01-02T00:00:00.000Z</Initiated></Upload>\
             <Upload><Key>a/uploads/2</Key><UploadId>x&amp;y</UploadId><Initiated>2026-01-02T00:00:01Z</Initiated></Upload>\
             </ListMultipartUploadsResult>",
        );
        let upload = |key: &str, id: &str, begun| OpenUpload {
            key: key.to_owned(),
            begun,
            id: id.to_owned(),
        };
        let first = 1_767_312_000_000_000;
        let expected = UploadPage {
            uploads: vec![
                upload("a/uploads/1", "i-1", first),
                upload("a/uploads/2", "x&y", first + 1_000_000),
            ],
            next: Some(["a/uploads/2".to_owned(), "x&y".to_owned()]),
        };
        assert_eq!(page, expected);
        assert_eq!(
            UploadPage::read("<IsTruncated>false</IsTruncated>"),
            UploadPage::default()
        );
    }
}
