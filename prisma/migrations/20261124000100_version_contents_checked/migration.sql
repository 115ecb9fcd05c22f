-- Side by side: AT_ValidateConstraint secret_version.secret_version_reference: it looks at every row and keeps no server from writing
-- Side by side: INDEX secret_version_content_version_id_idx on secret_version: writers wait while it is built, once through the table; it holds no row yet

-- What schema.prisma cannot say.

-- In a separate migration, without the lock that keeps readers out: this one looks at every row.
ALTER TABLE "secret_version" VALIDATE CONSTRAINT "secret_version_reference";

-- The versions that refer to one: for its destruction, and for a purge, which looks for them with each deleted version.
CREATE INDEX "secret_version_content_version_id_idx" ON "secret_version"("content_version_id")
    WHERE "content_version_id" IS NOT NULL;
